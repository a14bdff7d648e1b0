package flakeproof.samples;

import org.junit.Assert;
import org.junit.Before;
import org.junit.Test;

/** Makes a JVM load what it takes to run a test, for the archive of its classes. */
public class Junit4Sample {
    private int number;

    @Before
    public void count() {
        number++;
    }

    @Test
    public void passes() {
        Assert.assertEquals(1, number);
    }

    @Test
    public void fails() {
        Assert.assertEquals(2, number);
    }
}
