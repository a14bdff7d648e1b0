package demo;

import org.junit.Ignore;
import org.junit.Test;

@Ignore("whole")
public class Ignored {
    @Test
    public void one() {}

    @Test
    public void two() {}
}
