package zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.ServerSocket;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The backup job holds the till's port: three tests fail together, and pass later. */
@TestMethodOrder(MethodOrderer.MethodName.class)
class T32PortInUseTest {
    @Test
    public void bursty_port_in_use_when_counting() throws Exception {
        useTheTill();
    }

    @Test
    public void bursty_port_in_use_when_refunding() throws Exception {
        useTheTill();
    }

    @Test
    public void bursty_port_in_use_when_selling() throws Exception {
        useTheTill();
    }

    private static void useTheTill() throws Exception {
        try (ServerSocket till = Till.open()) {
            assertEquals(true, till.isBound());
        }
    }
}
