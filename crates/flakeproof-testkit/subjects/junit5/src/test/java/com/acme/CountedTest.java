package com.acme;

import static com.acme.Notes.note;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Set-up and teardown of a class, counted. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class CountedTest {
    @BeforeAll
    public static void setUp() {
        note("+class");
    }

    @AfterAll
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
