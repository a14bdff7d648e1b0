package demo;

import org.junit.AfterClass;
import org.junit.Test;

public class BrokenClosing {
    @AfterClass
    public static void close() {
        throw new IllegalStateException("in close");
    }

    @Test
    public void one() {}

    @Test
    public void two() {}
}
