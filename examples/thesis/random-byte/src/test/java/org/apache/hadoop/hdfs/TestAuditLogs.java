package org.apache.hadoop.hdfs;

import static org.junit.Assert.assertTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

/** Figure 2.1: fails when the first byte is 0, one time in 256. */
public class TestAuditLogs {
    @Test
    public void testAuditAllowed() throws Exception {
        Path file = DFSTestUtil.createFile(16);
        try (InputStream stream = Files.newInputStream(file)) {
            int value = stream.read();
            assertTrue("failed to read from file", value > 0);
        } finally {
            Files.delete(file);
        }
    }
}
