package demo;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(ints = {1, 2})
record Templates(int number) {
    @BeforeAll
    static void open() {
        Trace.note("open");
    }

    @Test
    void small() {
        Trace.note("small " + number);
        assertTrue(number < 2);
    }

    @Test
    void other() {
        Trace.note("other " + number);
    }
}
