package demo;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class BrokenClosing {
    @AfterAll
    static void close() {
        throw new IllegalStateException("in close");
    }

    @Test
    void one() {}

    @Test
    void two() {}
}
