package demo;

import org.junit.Test;

public class BrokenConstructor {
    public BrokenConstructor() {
        throw new IllegalStateException("in the constructor");
    }

    @Test
    public void test() {}
}
