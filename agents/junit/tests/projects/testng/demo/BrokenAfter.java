package demo;

import org.testng.annotations.AfterMethod;
import org.testng.annotations.Test;

public class BrokenAfter {
    @AfterMethod
    public void after() {
        throw new IllegalStateException("in after");
    }

    @Test
    public void test() {}
}
