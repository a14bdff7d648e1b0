package demo;

import org.junit.Test;

public class Lacking {
    @Test
    public void test(Gone gone) {}

    public Gone field;
}
