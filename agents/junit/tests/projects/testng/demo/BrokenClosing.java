package demo;

import org.testng.annotations.AfterClass;
import org.testng.annotations.Test;

public class BrokenClosing {
    @AfterClass
    public void close() {
        throw new IllegalStateException("in close");
    }

    @Test
    public void one() {}

    @Test
    public void two() {}
}
