package zoo;

import static org.junit.Assert.assertEquals;

import org.junit.After;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** A teardown puts back a value that was not there before. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T43WrongTeardownTest {
    @After
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
