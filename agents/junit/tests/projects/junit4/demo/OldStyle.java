package demo;

import junit.framework.TestCase;

public class OldStyle extends TestCase {
    @Override
    protected void setUp() {
        Trace.note("setUp");
        if (getName().equals("testBrokenSetUp")) {
            throw new IllegalStateException("in setUp");
        }
    }

    public void testOne() {
        Trace.note("testOne");
    }

    public void testTwo() {
        Trace.note("testTwo");
    }

    public void testFails() {
        fail("on purpose");
    }

    public void testBrokenSetUp() {}
}
