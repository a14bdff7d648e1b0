package flakeproof.agent;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The line to flakeproof: one JSON object per line, over a socket.
 *
 * <p>A thread reads ahead, so that a hung or endless test does not keep a JVM alive for which
 * nobody waits any more: when flakeproof hangs up, the JVM ends at once.
 */
final class Link {
    private final OutputStream sender;
    private final BlockingQueue<Map<String, Object>> commands = new LinkedBlockingQueue<>();

    private Link(OutputStream sender) {
        this.sender = sender;
    }

    /** The connection to this port of this machine. */
    static Link connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port);
        socket.setTcpNoDelay(true);
        Link link = new Link(socket.getOutputStream());
        InputStream receiver = socket.getInputStream();
        Thread reader = new Thread(() -> link.read(receiver), "flakeproof link");
        reader.setDaemon(true);
        reader.start();
        return link;
    }

    /** Sends one message at once; a worker that lost its link has nobody to work for and ends. */
    void send(Map<String, Object> message) {
        byte[] line = (Json.write(message) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (sender) {
            try {
                sender.write(line);
                sender.flush();
            } catch (IOException lost) {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    /** Reports a fault of the worker itself. */
    void trouble(String text) {
        send(Json.map("say", "trouble", "text", text));
    }

    /** The next command. */
    Map<String, Object> receive() throws InterruptedException {
        return commands.take();
    }

    /** Whether a command waits that says to stop. */
    boolean isToldToStop() {
        Map<String, Object> next = commands.peek();
        return next != null && "bye".equals(next.get("do"));
    }

    private void read(InputStream receiver) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(receiver, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                commands.add(Json.object(Json.parse(line)));
            }
        } catch (IOException lost) {
            // The same as a line that was cut.
        } catch (RuntimeException unreadable) {
            trouble(Failures.text(unreadable));
        }
        Runtime.getRuntime().halt(0);
    }
}
