package org.apache.hive.hcatalog.templeton;

import static org.junit.Assert.assertEquals;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/** Figure 2.2: fails as long as somebody else has the port. */
public class TestWebHCatE2e {
    private static Main templetonServer;

    @BeforeClass
    public static void startWebHcatInMem() {
        templetonServer = new Main();
        templetonServer.run();
    }

    @AfterClass
    public static void stopWebHcatInMem() throws Exception {
        templetonServer.stop();
    }

    @Test
    public void getStatus() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Main.port())) {
            socket.setSoTimeout(10_000);
            InputStreamReader answer = new InputStreamReader(socket.getInputStream());
            assertEquals("templeton", new BufferedReader(answer).readLine());
        }
    }
}
