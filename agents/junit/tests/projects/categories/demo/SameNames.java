package demo;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Collection;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.MethodSorters;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class SameNames {
    private final int number;

    public SameNames(int number) {
        this.number = number;
    }

    @Parameters(name = "same")
    public static Collection<Object[]> rows() {
        return Arrays.asList(new Object[] {1}, new Object[] {2}, new Object[] {3});
    }

    @Test
    public void small() {
        Trace.note("small " + number);
        assertTrue(number < 3);
    }

    @Test
    public void another() {
        Trace.note("another " + number);
    }
}
