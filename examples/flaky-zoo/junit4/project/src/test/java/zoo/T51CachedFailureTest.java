package zoo;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Fails after the change; called again in the same process it finds a half-filled cache. */
public class T51CachedFailureTest {
    @Test
    public void real_failure_that_a_cache_hides_from_reruns() {
        assertEquals("apple", Catalogue.names().get(0));
    }
}
