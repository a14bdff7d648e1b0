package zoo;

import java.util.concurrent.CountDownLatch;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** First in the order, because each of these ends the process it runs in. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T00CrashAndHangTest {
    @Test
    public void a_crash_by_a_signal_every_time() throws Exception {
        String pid = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-9", pid).start().waitFor();
        new CountDownLatch(1).await();
    }

    @Test
    public void b_hang_waits_for_an_event_that_never_comes() throws Exception {
        new CountDownLatch(1).await();
    }
}
