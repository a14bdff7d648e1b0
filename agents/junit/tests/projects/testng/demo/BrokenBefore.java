package demo;

import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

public class BrokenBefore {
    @BeforeMethod
    public void before() {
        throw new IllegalStateException("in before");
    }

    @Test
    public void test() {}
}
