package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** A crash in code that the change touches. */
class T01CrashFromChangeTest {
    @Test
    public void real_crash_that_the_change_introduces() {
        assertEquals("wholemeal bread 2.50", Receipt.line("wholemeal bread, sliced", 250));
    }
}
