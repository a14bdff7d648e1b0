package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Fails while a service outside the project is down: the change has no part in it. */
class T60OutsideTheChangeTest {
    @Test
    public void outage_of_a_service_that_the_change_does_not_touch() {
        assertEquals(12, Stock.count("apple"));
    }
}
