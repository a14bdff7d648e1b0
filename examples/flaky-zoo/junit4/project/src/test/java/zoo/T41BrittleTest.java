package zoo;

import static org.junit.Assert.assertEquals;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** A test that needs what another one leaves behind, and comes before it. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T41BrittleTest {
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
