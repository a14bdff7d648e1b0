package demo;

import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

public class BrokenOpening {
    @BeforeClass
    public void open() {
        throw new IllegalStateException("in open");
    }

    @Test
    public void one() {}

    @Test
    public void two() {}
}
