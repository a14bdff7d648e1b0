package pay;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Each test fails because of a copy of itself. */
class CompanyTest {
    @Test
    void besideItselfFixedPort() throws IOException, InterruptedException {
        try (ServerSocket server = new ServerSocket(18769, 1, InetAddress.getLoopbackAddress())) {
            Thread.sleep(1_000);
        }
    }

    @Test
    void besideItselfFixedTemporaryFolder() throws IOException, InterruptedException {
        Path folder = Path.of(System.getProperty("java.io.tmpdir"), "pay-of-the-junit-zoo");
        Files.createDirectory(folder);
        Thread.sleep(1_000);
        Files.delete(folder);
    }
}
