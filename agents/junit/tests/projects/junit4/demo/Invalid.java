package demo;

import org.junit.Test;

public class Invalid {
    @Test
    public void takes(int nothing) {}
}
