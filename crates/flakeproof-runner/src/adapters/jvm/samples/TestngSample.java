package flakeproof.samples;

import org.testng.Assert;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

/** Makes a JVM load what it takes to run a test, for the archive of its classes. */
public class TestngSample {
    private int number;

    @BeforeMethod
    public void count() {
        number++;
    }

    @Test
    public void passes() {
        Assert.assertTrue(number > 0);
    }

    @Test
    public void fails() {
        Assert.assertEquals(number, 0);
    }
}
