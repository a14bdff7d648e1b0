package demo;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class BrokenOpening {
    @BeforeAll
    static void open() {
        throw new IllegalStateException("in open");
    }

    @Test
    void one() {}

    @Nested
    class Inner {
        @Test
        void two() {}
    }
}
