package demo;

import org.testng.annotations.Test;

/** Inherits the tests of a class that is a test class itself. */
public class Heir extends Ancestor {
    @Test
    public void own() {
        Trace.note("own of " + getClass().getSimpleName());
    }
}
