package pay;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each test fails for one thing about its surroundings, in the way that real ones do. */
class SurroundingsTest {
    @Test
    void zoneDayOfAPayment() {
        Instant paid = Instant.ofEpochSecond(1_700_000_000);
        assertEquals("2023-11-14T22:13:20", LocalDateTime.ofInstant(paid, ZoneId.systemDefault()).toString());
    }

    @Test
    void localePriceOnAReceipt() {
        assertEquals("1.50", String.format("%.2f", 1.5));
    }

    @Test
    void hashSeedTagsInTheirOrder() {
        Set<String> tags = new HashSet<>(List.of("cash", "card", "cheque", "coupon"));
        assertEquals("[coupon, cheque, cash, card]", tags.toString());
    }

    @Test
    void clockCertificateIsValid() {
        assertTrue(LocalDate.now().isBefore(LocalDate.of(2037, 12, 31)), "it has expired");
    }

    @Test
    void clockTomorrowIsInThisYear() {
        assertEquals(LocalDate.now().getYear(), LocalDate.now().plusDays(1).getYear());
    }

    @Test
    void oneCoreWorkersForEachSide() {
        assertTrue(Runtime.getRuntime().availableProcessors() >= 2, "a worker for each side is wanted");
    }

    @Test
    void ciUploadsNothing() {
        assertNull(System.getenv("CI"));
    }

    @Test
    void noNetworkTalksToItself() {
        assertDoesNotThrow(() -> {
            InetAddress here = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
            try (ServerSocket server = new ServerSocket(0, 1, here)) {
                new Socket(here, server.getLocalPort()).close();
            }
        });
    }

    @Test
    void noDnsFindsThisMachine() {
        assertDoesNotThrow(() -> InetAddress.getByName("localhost"));
    }
}
