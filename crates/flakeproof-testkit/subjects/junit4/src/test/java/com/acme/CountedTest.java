package com.acme;

import static com.acme.Notes.note;

import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** Set-up and teardown of a class, counted. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class CountedTest {
    @BeforeClass
    public static void setUp() {
        note("+class");
    }

    @AfterClass
    public static void tearDown() {
        note("-class");
    }

    @Test
    public void counted_first() {
        note("counted_first");
    }

    @Test
    public void counted_second() {
        note("counted_second");
    }
}
