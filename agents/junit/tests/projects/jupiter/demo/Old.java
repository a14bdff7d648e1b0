package demo;

import org.junit.Test;

public class Old {
    @Test
    public void one() {
        Trace.note("one");
    }

    @Test
    public void two() {
        Trace.note("two");
    }
}
