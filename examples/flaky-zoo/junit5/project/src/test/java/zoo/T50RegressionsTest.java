package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Pass before the change and fail after it, because of it. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T50RegressionsTest {
    @Test
    public void real_regression_by_added_lines_only() {
        assertEquals(1100, Shipping.cost(2500, "abroad"));
    }

    @Test
    public void real_regression_by_an_added_file() {
        assertEquals(950, Offers.bestPrice(1000));
    }

    @Test
    public void real_regression_in_code() {
        Basket basket = new Basket();
        basket.add(40, 3);
        basket.add(250, 1);
        assertEquals(370, basket.total());
    }
}
