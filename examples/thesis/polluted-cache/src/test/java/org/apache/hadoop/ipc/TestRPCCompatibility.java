package org.apache.hadoop.ipc;

import static org.junit.Assert.assertEquals;

import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/**
 * Figure 2.3: the second test needs an empty cache, and the first leaves one that is not.
 *
 * <p>In Hadoop they are called {@code testVersion2ClientVersion2Server} and {@code
 * testVersion2ClientVersion1Server}, and their order is left to chance.
 */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class TestRPCCompatibility {
    @Test // equal version client and server
    public void testEqualVersions() {
        ProtocolSignature.resetCache();
        Version2Client client = new Version2Client(2);
        assertEquals(-3, client.echo(3));
    }

    @Test // Compatible new client & old server
    public void testNewClientOldServer() {
        // No resetCache() here!
        Version2Client client = new Version2Client(1);
        assertEquals(3, client.echo(3));
    }
}
