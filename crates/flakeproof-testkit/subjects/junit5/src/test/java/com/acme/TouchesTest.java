package com.acme;

import static com.acme.Notes.note;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Calls code outside the tests. */
class TouchesTest {
    @Test
    public void touches() {
        note("touches");
        assertEquals(40, Shop.price());
    }
}
