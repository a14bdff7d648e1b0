package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A test that needs what another one leaves behind, and comes before it. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T41BrittleTest {
    @Test
    public void a_brittle_needs_a_customer() {
        assertEquals("Hello, ADA", Customer.greeting());
    }

    @Test
    public void b_state_setter_logs_a_customer_in() {
        Customer.logIn("ada");
        assertEquals("Hello, ADA", Customer.greeting());
    }
}
