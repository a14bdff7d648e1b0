package demo;

import org.testng.annotations.Test;

public class BrokenConstructor {
    public BrokenConstructor() {
        throw new IllegalStateException("in the constructor");
    }

    @Test
    public void test() {}
}
