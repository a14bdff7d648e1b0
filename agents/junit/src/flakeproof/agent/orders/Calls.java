package flakeproof.agent.orders;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The places from which the project or a library asks for something in an open order, and which of
 * them get it shuffled.
 *
 * <p>What the JDK does for itself and what runs the tests stay as they are: a shuffled order there would
 * be a fault of another program.
 */
final class Calls {
    /** What runs the tests. */
    private static final String[] RUNNERS = {
        "flakeproof.agent.", "org.junit.", "junit.extensions.", "junit.framework.", "junit.runner.",
        "org.testng.", "com.beust.jcommander.",
    };

    /** What of it looks at the project's own things, and in its name. */
    private static final String[] ASSERTIONS = {
        "org.junit.Assert", "org.junit.jupiter.api.", "junit.framework.Assert", "org.testng.Assert",
        "org.testng.asserts.",
    };

    private static final ThreadLocal<Boolean> BUSY = new ThreadLocal<>();
    private static final FirstOutside FIRST = new FirstOutside();
    private static final StackWalker FRAMES =
            StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();

    /** The only calls that are shuffled; null for all. */
    private static Set<String> only;

    /** Calls that were written down already; null where nobody wants to know. */
    private static Set<String> told;

    private static FileOutputStream file;

    private Calls() {}

    /**
     * Reads the settings, from a file: the seed in the first line, in the second the file to write calls
     * to, or nothing; then {@code all}, or {@code only} and the calls that are shuffled, line by line.
     */
    static void read(String settings) throws IOException {
        List<String> lines = Files.readAllLines(Paths.get(settings));
        Permutation.seed(Long.parseUnsignedLong(lines.get(0)));
        if (!lines.get(1).isEmpty()) {
            Path path = Paths.get(lines.get(1));
            file = new FileOutputStream(path.toFile(), true);
            told = new HashSet<>();
        }
        if (lines.get(2).equals("only")) {
            only = new HashSet<>(lines.subList(3, lines.size()));
        }
    }

    /** Whether the call under way gets what it asks for in the seed's order. */
    static boolean isChosen(String what) {
        if (BUSY.get() != null) {
            return false;
        }
        BUSY.set(Boolean.TRUE);
        try {
            StackWalker.StackFrame frame = FRAMES.walk(FIRST);
            if (frame == null || isRunner(frame.getClassName())) {
                return false;
            }
            return only == null && told == null || isChosen(what, frame);
        } finally {
            BUSY.remove();
        }
    }

    private static boolean isChosen(String what, StackWalker.StackFrame frame) {
        String name = frame.getFileName() == null ? "?" : frame.getFileName();
        String call = frame.getClassName() + "." + frame.getMethodName() + " (" + name + ":"
                + frame.getLineNumber() + "): " + what;
        synchronized (Calls.class) {
            if (told != null && told.add(call)) {
                write(call);
            }
            return only == null || only.contains(call);
        }
    }

    private static void write(String call) {
        try {
            file.write((call + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException unwritable) {
            // A call that is not told is not found to matter; nothing wrong is said.
            told.remove(call);
        }
    }

    private static boolean isRunner(String type) {
        return beginsLikeOne(type, RUNNERS) && !beginsLikeOne(type, ASSERTIONS);
    }

    private static boolean beginsLikeOne(String type, String[] beginnings) {
        for (String beginning : beginnings) {
            if (type.startsWith(beginning)) {
                return true;
            }
        }
        return false;
    }

    /** The frame nearest to the call that is not of the JDK. */
    private static final class FirstOutside
            implements Function<Stream<StackWalker.StackFrame>, StackWalker.StackFrame> {
        @Override
        public StackWalker.StackFrame apply(Stream<StackWalker.StackFrame> frames) {
            Iterator<StackWalker.StackFrame> all = frames.iterator();
            while (all.hasNext()) {
                StackWalker.StackFrame frame = all.next();
                ClassLoader loader = frame.getDeclaringClass().getClassLoader();
                if (loader != null && loader != PLATFORM) {
                    return frame;
                }
            }
            return null;
        }
    }
}
