package demo;

import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;

/** Notes what runs, in the file that the system property names. */
public final class Trace {
    private Trace() {}

    public static void note(String text) {
        try (Writer file = new FileWriter(System.getProperty("trace"), true)) {
            file.write(text + "\n");
        } catch (IOException broken) {
            throw new IllegalStateException(broken);
        }
    }
}
