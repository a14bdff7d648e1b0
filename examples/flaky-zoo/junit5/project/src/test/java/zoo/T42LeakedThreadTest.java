package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.Collectors;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A test leaves a thread running. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T42LeakedThreadTest {
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
