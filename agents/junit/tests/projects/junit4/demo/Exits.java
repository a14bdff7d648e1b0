package demo;

import org.junit.Test;

public class Exits {
    @Test
    public void exits() {
        System.exit(3);
    }

    @Test
    public void overflows() {
        overflows();
    }

    @Test
    public void lacksClass() {
        throw new NoClassDefFoundError("some/Missing");
    }

    @Test
    public void leavesThreadAndStreams() {
        Thread thread = new Thread(() -> {
            while (true) {
                Thread.yield();
            }
        });
        thread.setDaemon(false);
        thread.start();
        System.setOut(null);
        System.setErr(null);
    }

    @Test
    public void hangs() throws InterruptedException {
        new java.util.concurrent.CountDownLatch(1).await();
    }
}
