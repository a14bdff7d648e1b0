package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A teardown puts back a value that was not there before. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T43WrongTeardownTest {
    @AfterEach
    public void restore() {
        if (Discount.percent == 20) {
            Discount.percent = 10;
        }
    }

    @Test
    public void a_polluter_whose_teardown_restores_the_wrong_value() {
        Discount.percent = 20;
        assertEquals(800, Discount.reduced(1000));
    }

    @Test
    public void b_victim_of_the_wrong_teardown() {
        assertEquals(1000, Discount.reduced(1000));
    }
}
