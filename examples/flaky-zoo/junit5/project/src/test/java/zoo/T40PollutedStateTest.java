package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A test changes a static field and leaves it so. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T40PollutedStateTest {
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
