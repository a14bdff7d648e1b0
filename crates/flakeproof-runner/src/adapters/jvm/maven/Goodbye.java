import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Says what it reads to a Surefire that listens on a port: {@code Goodbye HOST PORT SESSION}. */
public final class Goodbye {
    private Goodbye() {}

    public static void main(String[] arguments) throws IOException {
        ByteArrayOutputStream words = new ByteArrayOutputStream();
        words.write(arguments[2].getBytes(StandardCharsets.US_ASCII));
        byte[] piece = new byte[1024];
        for (int size; (size = System.in.read(piece)) > 0; ) {
            words.write(piece, 0, size);
        }
        try (Socket socket = new Socket(arguments[0], Integer.parseInt(arguments[1]))) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write(words.toByteArray());
            socket.getOutputStream().flush();
            socket.shutdownOutput();
            InputStream answer = socket.getInputStream();
            while (answer.read(piece) >= 0) {
                // Whatever it still has to say, until it hangs up.
            }
        } catch (java.net.SocketTimeoutException enough) {
            // It has heard.
        }
    }
}
