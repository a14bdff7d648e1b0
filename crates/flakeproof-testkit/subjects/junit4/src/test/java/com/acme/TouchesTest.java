package com.acme;

import static com.acme.Notes.note;
import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Calls code outside the tests. */
public class TouchesTest {
    @Test
    public void touches() {
        note("touches");
        assertEquals(40, Shop.price());
    }
}
