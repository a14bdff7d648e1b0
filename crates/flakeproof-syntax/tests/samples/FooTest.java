package com.acme;

import org.junit.*;

public class FooTest extends Base<String> {
    private int count;

    @Before
    public void setUp() {
        reset();
    }

    @Test(expected = IllegalStateException.class)
    @Category({Slow.class})
    public void adds() throws Exception {
        this.check(1);
        Fixtures.make("}");
    }

    @Test public void waits() { Thread.sleep(100); }

    private void check(int n) { compare(n, count); }

    private static void compare(int a, int b) { check(a); }

    private void reset() { count = 0; }

    @Nested
    class Inner {
        @ParameterizedTest
        void each(int n) { check(n); }
    }

    static class Fixtures {
        static void make(String s) { }
    }
}
