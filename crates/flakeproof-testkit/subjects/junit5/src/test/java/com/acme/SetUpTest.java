package com.acme;

import static com.acme.Notes.note;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Its set-up fails. */
class SetUpTest {
    @BeforeEach
    public void setUp() {
        throw new IllegalStateException("no set-up");
    }

    @Test
    public void errors_in_setup() {
        note("errors_in_setup");
    }
}
