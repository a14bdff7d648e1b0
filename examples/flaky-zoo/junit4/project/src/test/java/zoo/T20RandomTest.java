package zoo;

import static org.junit.Assert.assertNotEquals;

import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/** Fails by chance, at once and at any time: not bursty. */
@RunWith(Parameterized.class)
public class T20RandomTest {
    public T20RandomTest(int ticket) {}

    @Parameters
    public static Integer[] tickets() {
        Integer[] tickets = new Integer[20];
        java.util.Arrays.setAll(tickets, ticket -> ticket);
        return tickets;
    }

    @Test
    public void random_failure() {
        assertNotEquals("one draw in ten is a blank", 0, Lottery.draw());
    }
}
