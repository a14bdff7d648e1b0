package zoo;

import static org.junit.Assert.assertEquals;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** A test changes a static field and leaves it so. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T40PollutedStateTest {
    @Test
    public void a_polluter_switches_currency() {
        Settings.currency = "USD";
        assertEquals("2.50 USD", Settings.show(250));
    }

    @Test
    public void b_victim_of_the_currency() {
        assertEquals("2.50 EUR", Settings.show(250));
    }
}
