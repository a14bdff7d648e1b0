package org.apache.hive.hcatalog.templeton;

import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import org.junit.Test;

/** The rest of a long suite, in which time goes by: whoever had the port is done with it. */
public class TestZLast {
    @Test
    public void takesItsTime() throws Exception {
        if (!Boolean.getBoolean("templeton.neighbour")) {
            return;
        }
        try (Socket neighbour = new Socket(InetAddress.getLoopbackAddress(), Main.port())) {
            neighbour.setSoTimeout(10_000);
            neighbour.getOutputStream().write("leave\n".getBytes(StandardCharsets.UTF_8));
            while (neighbour.getInputStream().read() >= 0) {
                // It closes the line once the port is free.
            }
        } catch (SocketException gone) {
            // It is done already.
        }
    }
}
