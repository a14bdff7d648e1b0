package demo;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collection;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
public class Rows {
    private final int number;

    public Rows(int number) {
        this.number = number;
    }

    @Parameters
    public static Collection<Object[]> rows() {
        return Arrays.asList(new Object[] {1}, new Object[] {2}, new Object[] {3});
    }

    @Test
    public void small() {
        Trace.note("small " + number);
        assertTrue(number < 3);
    }

    @Test
    public void positive() {
        Trace.note("positive " + number);
    }
}
