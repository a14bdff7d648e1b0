package flakeproof.agent.measure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The lines of the project that ran. Its classes call it, so it is on the path of the JDK's own loader.
 */
public final class Lines {
    /** The most classes that are followed: their numbers are operands of one instruction. */
    private static final int MOST = Short.MAX_VALUE;

    private static final boolean[][] RAN = new boolean[MOST][];
    private static final int[] FILE_OF = new int[MOST];
    private static final List<String> FILES = new ArrayList<>();
    private static int classes;
    private static int told;
    private static String unknown;

    private Lines() {}

    /** A line of a class runs. */
    public static void ran(int type, int line) {
        RAN[type][line & 0xffff] = true;
    }

    /** The number of a class that is about to be loaded; -1 if there are too many. */
    static synchronized int number(String file, int lastLine) {
        if (classes == MOST) {
            lose("there are more than " + MOST + " classes");
            return -1;
        }
        int place = FILES.indexOf(file);
        if (place < 0) {
            place = FILES.size();
            FILES.add(file);
        }
        RAN[classes] = new boolean[lastLine + 1];
        FILE_OF[classes] = place;
        return classes++;
    }

    /** From now on it is not known which lines run, for a reason. */
    static synchronized void lose(String why) {
        unknown = unknown == null ? why : unknown;
    }

    /** Why the lines are not known; null if they are. */
    static synchronized String unknown() {
        return unknown;
    }

    /** Forgets what ran so far. */
    static synchronized void forget() {
        for (int type = 0; type < classes; type++) {
            Arrays.fill(RAN[type], false);
        }
    }

    /** The files that were not told yet. */
    static synchronized List<Object> newFiles() {
        List<Object> added = new ArrayList<>(FILES.subList(told, FILES.size()));
        told = FILES.size();
        return added;
    }

    /** What ran, as numbers of files, each with the first and last line of its ranges. */
    static synchronized List<Object> all() {
        List<Object> all = new ArrayList<>();
        for (int type = 0; type < classes; type++) {
            List<Object> ranges = ranges(RAN[type]);
            if (!ranges.isEmpty()) {
                all.add(new Object[] {FILE_OF[type], ranges});
            }
        }
        return all;
    }

    private static List<Object> ranges(boolean[] lines) {
        List<Object> ranges = new ArrayList<>();
        for (int line = 0; line < lines.length; line++) {
            if (lines[line]) {
                ranges.add(line);
                while (line + 1 < lines.length && lines[line + 1]) {
                    line++;
                }
                ranges.add(line);
            }
        }
        return ranges;
    }
}
