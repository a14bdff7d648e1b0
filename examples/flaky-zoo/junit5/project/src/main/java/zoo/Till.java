package zoo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** The till listens on a port of this machine. */
public final class Till {
    /** The port in this process; free when the first test asks for it. */
    private static final int PORT = freePort();

    private Till() {}

    /** The till's socket, listening; it fails when another program holds the port. */
    public static ServerSocket open() throws IOException {
        return new ServerSocket(PORT, 1, InetAddress.getLoopbackAddress());
    }

    private static int freePort() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
