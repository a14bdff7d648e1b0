package com.acme.old;

import junit.framework.TestCase;

public class LegacyTest extends TestCase {
    public void testParses() {
        assertEquals(7, Integer.parseInt("7"));
    }
}
