package org.apache.hive.hcatalog.templeton;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A server that says hello. */
public final class Main {
    public static final int DEFAULT_PORT = 8080;

    private ServerSocket server;

    /** Starts the server; what goes wrong is only printed, as in Hive. */
    public void run() {
        int port = port();
        try {
            server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
            Thread listener = new Thread(this::answer, "templeton");
            listener.setDaemon(true);
            listener.start();
            System.out.println("templeton: listening on port " + port);
        } catch (IOException failure) {
            System.err.println("templeton: Server failed to start: " + failure.getMessage());
        }
    }

    /** Stops the server. */
    public void stop() throws IOException {
        if (server != null) {
            server.close();
        }
    }

    /** The port of the server. */
    public static int port() {
        return Integer.getInteger("templeton.port", DEFAULT_PORT);
    }

    private void answer() {
        try {
            while (true) {
                try (Socket client = server.accept()) {
                    client.getOutputStream().write("templeton\n".getBytes(StandardCharsets.UTF_8));
                }
            }
        } catch (IOException closed) {
            // The end of the server.
        }
    }
}
