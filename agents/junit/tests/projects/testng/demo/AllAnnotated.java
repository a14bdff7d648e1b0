package demo;

import org.testng.annotations.Test;

@Test
public class AllAnnotated {
    public void a() {
        Trace.note("a");
    }

    public void b() {
        Trace.note("b");
    }

    public void c() {
        Trace.note("c");
    }
}
