package zoo;

import java.io.IOException;
import java.net.ServerSocket;

/** A backup job that holds the till's port until it is told to finish. */
public final class Backup {
    private static ServerSocket held;

    private Backup() {}

    public static void start() throws IOException {
        held = Till.open();
    }

    public static void finish() throws IOException {
        if (held != null) {
            held.close();
            held = null;
        }
    }
}
