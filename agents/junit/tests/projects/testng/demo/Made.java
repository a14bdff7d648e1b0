package demo;

import org.testng.annotations.Test;

public class Made {
    private final String name;

    public Made(String name) {
        this.name = name;
    }

    @Test
    public void one() {
        Trace.note("one " + name);
    }

    @Test
    public void two() {
        Trace.note("two " + name);
    }
}
