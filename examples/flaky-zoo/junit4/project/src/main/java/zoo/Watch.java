package zoo;

import java.util.concurrent.CountDownLatch;

/** Watches the stock in the background. */
public final class Watch {
    private Watch() {}

    /** A thread that goes on until it is interrupted. */
    public static Thread start() {
        Thread watch = new Thread(Watch::watch, "stock-watch");
        watch.setDaemon(true);
        watch.start();
        return watch;
    }

    private static void watch() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
