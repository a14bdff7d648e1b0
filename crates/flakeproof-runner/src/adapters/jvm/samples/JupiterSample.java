package flakeproof.samples;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Makes a JVM load what it takes to run a test, for the archive of its classes. */
public class JupiterSample {
    private int number;

    @BeforeEach
    public void count() {
        number++;
    }

    @Test
    public void passes() {
        Assertions.assertEquals(1, number);
    }

    @Test
    public void fails() {
        Assertions.assertEquals(2, number);
    }
}
