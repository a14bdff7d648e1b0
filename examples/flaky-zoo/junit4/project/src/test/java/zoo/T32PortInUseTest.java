package zoo;

import static org.junit.Assert.assertEquals;

import java.net.ServerSocket;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** The backup job holds the till's port: three tests fail together, and pass later. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class T32PortInUseTest {
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
