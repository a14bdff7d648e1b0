package demo;

import org.junit.BeforeClass;
import org.junit.Test;

public class BrokenOpening {
    @BeforeClass
    public static void open() {
        throw new IllegalStateException("in open");
    }

    @Test
    public void one() {}

    @Test
    public void two() {}
}
