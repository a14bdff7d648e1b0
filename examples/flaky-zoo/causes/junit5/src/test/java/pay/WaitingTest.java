package pay;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Each test expects to be fast, or another thread or the machine to be. */
class WaitingTest {
    @Test
    void quotaAnswerComesInTime() throws InterruptedException {
        long begin = System.nanoTime();
        Thread.sleep(100);
        assertTrue(milliseconds(begin) < 600, "the answer came late");
    }

    @Test
    void quotaTimeoutTooShort() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(10);
        Thread worker = new Thread(() -> {
            for (int step = 0; step < 10; step++) {
                pause(15);
                done.countDown();
            }
        });
        worker.setDaemon(true);
        worker.start();
        assertTrue(done.await(600, TimeUnit.MILLISECONDS), "the work is not done in time");
    }

    @Test
    void quotaFixedSleepBeforeALook() throws InterruptedException {
        AtomicBoolean paid = new AtomicBoolean();
        Thread payer = new Thread(() -> {
            long total = 0;
            for (int number = 0; number < 40_000_000; number++) {
                total += number % 7;
            }
            paid.set(total > 0);
        });
        payer.setDaemon(true);
        payer.start();
        Thread.sleep(500);
        assertTrue(paid.get(), "not paid yet");
    }

    @Test
    void slowCallsReportIsOnTheDiskInTime() throws IOException {
        Path report = Files.createTempFile("report", null);
        long begin = System.nanoTime();
        try (FileChannel file = FileChannel.open(report, StandardOpenOption.WRITE)) {
            for (int line = 0; line < 3; line++) {
                file.write(ByteBuffer.wrap(new byte[] {'p'}));
                file.force(true);
            }
        }
        Files.delete(report);
        assertTrue(milliseconds(begin) < 500, "the disk is too slow");
    }

    @Test
    void slowNetworkServerAnswersInTime() throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 1, here)) {
            Thread answering = new Thread(() -> {
                try (Socket client = server.accept()) {
                    client.getInputStream().read();
                    client.getOutputStream().write('p');
                } catch (IOException gone) {
                    // The test tells.
                }
            });
            answering.setDaemon(true);
            answering.start();
            long begin = System.nanoTime();
            try (Socket client = new Socket(here, server.getLocalPort())) {
                client.getOutputStream().write('?');
                client.getInputStream().read();
            }
            assertTrue(milliseconds(begin) < 280, "no answer in time");
        }
    }

    private static long milliseconds(long begin) {
        return (System.nanoTime() - begin) / 1_000_000;
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException wanted) {
            Thread.currentThread().interrupt();
        }
    }
}
