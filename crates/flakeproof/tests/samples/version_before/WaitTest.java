package shop;

public class WaitTest {
    @Test public void waits() throws Exception {
        server.start();
        Thread.sleep(100);
        assertTrue(client.poll(timeout).isReady());
    }
}
