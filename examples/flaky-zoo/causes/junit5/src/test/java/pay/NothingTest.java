package pay;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.security.SecureRandom;
import org.junit.jupiter.api.Test;

/** Nothing that can be changed from outside makes these fail, or makes them pass: no lever may be named. */
class NothingTest {
    @Test
    void nothingFailsOneTimeInTen() {
        assertNotEquals(0, new SecureRandom().nextInt(10));
    }

    @Test
    void nothingFailsOneTimeInThree() {
        assertNotEquals(0, new SecureRandom().nextInt(3));
    }

    @Test
    void nothingNeverFails() {}
}
