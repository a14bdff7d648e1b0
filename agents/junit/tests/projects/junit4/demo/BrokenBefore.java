package demo;

import org.junit.Before;
import org.junit.Test;

public class BrokenBefore {
    @Before
    public void before() {
        throw new IllegalStateException("in before");
    }

    @Test
    public void test() {}
}
