package com.acme;

import static com.acme.Notes.note;

import org.junit.Before;
import org.junit.Test;

/** Its set-up fails. */
public class SetUpTest {
    @Before
    public void setUp() {
        throw new IllegalStateException("no set-up");
    }

    @Test
    public void errors_in_setup() {
        note("errors_in_setup");
    }
}
