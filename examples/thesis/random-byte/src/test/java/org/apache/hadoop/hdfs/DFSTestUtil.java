package org.apache.hadoop.hdfs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.Random;

/** Makes files for tests. */
final class DFSTestUtil {
    private DFSTestUtil() {}

    /** A file with random content. */
    static Path createFile(int length) throws IOException {
        byte[] content = new byte[length];
        new Random(seed()).nextBytes(content);
        return Files.write(Files.createTempFile("audit", null), content);
    }

    /** The time, as in Hadoop; or the next line of the file "seeds", to choose one's luck. */
    private static long seed() throws IOException {
        Path given = Paths.get("seeds");
        if (!Files.exists(given)) {
            return System.currentTimeMillis();
        }
        List<String> seeds = Files.readAllLines(given);
        Files.write(given, seeds.subList(1, seeds.size()));
        return Long.parseLong(seeds.get(0));
    }
}
