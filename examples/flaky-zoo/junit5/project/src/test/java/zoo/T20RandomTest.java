package zoo;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Fails by chance, at once and at any time: not bursty. */
class T20RandomTest {
    static IntStream tickets() {
        return IntStream.range(0, 20);
    }

    @ParameterizedTest
    @MethodSource("tickets")
    public void random_failure(int ticket) {
        assertNotEquals(0, Lottery.draw(), "one draw in ten is a blank");
    }
}
