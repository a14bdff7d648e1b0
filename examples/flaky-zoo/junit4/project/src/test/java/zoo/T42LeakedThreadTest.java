package zoo;

import static org.junit.Assert.assertEquals;

import java.util.stream.Collectors;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** A test leaves a thread running. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T42LeakedThreadTest {
    @Test
    public void a_polluter_leaves_a_thread_running() {
        assertEquals(true, Watch.start().isDaemon());
    }

    @Test
    public void b_victim_of_the_leaked_thread() {
        String watches =
                Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .filter(name -> name.startsWith("stock-"))
                        .collect(Collectors.joining(", "));
        assertEquals("", watches);
    }
}
