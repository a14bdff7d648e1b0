package demo;

import org.junit.After;
import org.junit.Test;

public class BrokenAfter {
    @After
    public void after() {
        throw new IllegalStateException("in after");
    }

    @Test
    public void test() {}
}
