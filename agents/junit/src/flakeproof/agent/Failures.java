package flakeproof.agent;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * The text of a throwable: stack, causes and suppressed ones, without the frames at the end that
 * belong to the framework and the worker.
 *
 * <p>A throwable is code of the test: its methods may throw themselves.
 */
public final class Failures {
    /** Characters of text that are sent; the ends matter most. */
    private static final int CAP = 64 * 1024;

    private static final String OWN = "flakeproof.agent.";

    /** Code that is neither the project's nor a library's: it says nothing about a failure. */
    private static final String[] FOREIGN = {
        OWN, "java.", "javax.", "jdk.internal.", "sun.", "com.sun.",
        "org.junit.", "junit.", "org.testng.", "org.opentest4j.", "org.hamcrest.",
    };

    private Failures() {}

    /** The throwable with everything that it carries. */
    public static String text(Throwable throwable) {
        StringBuilder out = new StringBuilder();
        try {
            Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
            append(out, throwable, "", "", new StackTraceElement[0], seen);
        } catch (RuntimeException | StackOverflowError broken) {
            out.append("\n[the rest of the stack cannot be read]");
        }
        return capped(out.toString().trim());
    }

    /** Its class and message. */
    static String header(Throwable throwable) {
        try {
            return String.valueOf(throwable);
        } catch (RuntimeException | StackOverflowError broken) {
            return throwable.getClass().getName();
        }
    }

    /** The text up to the first line break. */
    static String firstLine(String text) {
        return text.trim().split("[\r\n]", 2)[0];
    }

    /** Whether a frame is the framework's, the worker's or the runtime's own. */
    static boolean isForeign(StackTraceElement frame) {
        for (String prefix : FOREIGN) {
            if (frame.getClassName().startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    private static void append(
            StringBuilder out,
            Throwable throwable,
            String title,
            String indent,
            StackTraceElement[] outer,
            Set<Throwable> seen) {
        out.append(indent).append(title).append(header(throwable)).append('\n');
        if (!seen.add(throwable)) {
            return;
        }
        StackTraceElement[] frames = throwable.getStackTrace();
        int end = end(frames, outer);
        for (int i = 0; i < end; i++) {
            out.append(indent).append("\tat ").append(frames[i]).append('\n');
        }
        for (Throwable suppressed : throwable.getSuppressed()) {
            append(out, suppressed, "Suppressed: ", indent + "\t", frames, seen);
        }
        if (throwable.getCause() != null) {
            append(out, throwable.getCause(), "Caused by: ", indent, frames, seen);
        }
    }

    /** Where the frames that tell nothing begin: those shared with the outer, and foreign ones. */
    private static int end(StackTraceElement[] frames, StackTraceElement[] outer) {
        int end = frames.length;
        int other = outer.length;
        while (end > 0 && other > 0 && frames[end - 1].equals(outer[other - 1])) {
            end--;
            other--;
        }
        int own = end;
        while (own > 0 && isForeign(frames[own - 1])) {
            own--;
        }
        while (own == 0 && end > 0 && frames[end - 1].getClassName().startsWith(OWN)) {
            end--;
        }
        return own == 0 ? end : own;
    }

    private static String capped(String text) {
        if (text.length() <= CAP) {
            return text;
        }
        int half = CAP / 2;
        String left = "\n[... " + (text.length() - CAP) + " characters left out ...]\n";
        return text.substring(0, half) + left + text.substring(text.length() - half);
    }
}
