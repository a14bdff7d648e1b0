package zoo;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** A crash in code that the change touches. */
public class T01CrashFromChangeTest {
    @Test
    public void real_crash_that_the_change_introduces() {
        assertEquals("wholemeal bread 2.50", Receipt.line("wholemeal bread, sliced", 250));
    }
}
