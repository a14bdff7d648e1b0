package flakeproof.agent.measure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;

/** What the kernel counts for this process; nothing where there is no {@code /proc}. */
final class Accounts {
    private static final Path SELF = Paths.get("/proc/self");

    /** The kernel's unit of bytes that are read or written. */
    private static final long BLOCK = 512;

    /** The kernel's unit of time, in seconds, on all machines that Java runs on. */
    private static final double TICK = 0.01;

    /** Blocks that a file system had to read or write, for this process and its children that ended. */
    final long reads;
    final long writes;

    /** How often each live thread gave the processor away. */
    private final Map<String, Long> switches = new HashMap<>();

    /** The thread that asks, and how long it waited for disks; null where that is not counted. */
    private final String thread;
    private final Double waited;

    Accounts() {
        String io = text(SELF.resolve("io"));
        reads = number(io, "\nread_bytes:") / BLOCK;
        writes = number(io, "\nwrite_bytes:") / BLOCK;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(SELF.resolve("task"))) {
            for (Path task : tasks) {
                long count = number(text(task.resolve("status")), "\nvoluntary_ctxt_switches:");
                switches.put(task.getFileName().toString(), count);
            }
        } catch (IOException | RuntimeException elsewhere) {
            switches.clear();
        }
        String stat = text(Paths.get("/proc/thread-self/stat"));
        thread = stat.isEmpty() ? "" : stat.substring(0, stat.indexOf(' '));
        boolean isCounted = text(Paths.get("/proc/sys/kernel/task_delayacct")).trim().equals("1");
        waited = isCounted ? waitedIn(stat) : null;
    }

    private static Double waitedIn(String stat) {
        // A name in parentheses, which may contain anything, stands before the third field.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
        return fields.length > 39 ? Double.valueOf(Long.parseLong(fields[39]) * TICK) : null;
    }

    /** Seconds waited for disks since then; null where that is not known. */
    Double waitedSince(Accounts before) {
        boolean isKnown = waited != null && before.waited != null && thread.equals(before.thread);
        return isKnown ? Double.valueOf(waited - before.waited) : null;
    }

    /** How often the threads that live gave the processor away since then. */
    long switchesSince(Accounts before) {
        long sum = 0;
        for (Map.Entry<String, Long> each : switches.entrySet()) {
            long earlier = before.switches.getOrDefault(each.getKey(), 0L);
            // The number of a thread that ended may be given to another one.
            sum += Math.max(0, each.getValue() - earlier);
        }
        return sum;
    }

    /** The children that live now; -1 where the system does not tell. */
    static int children() {
        int count = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(SELF.resolve("task"))) {
            for (Path task : tasks) {
                String list = text(task.resolve("children")).trim();
                count += list.isEmpty() ? 0 : list.split(" ").length;
            }
            return count;
        } catch (IOException | RuntimeException elsewhere) {
            return -1;
        }
    }

    /** Lets the peak of memory begin anew. */
    static void forgetPeakMemory() {
        try {
            Files.write(SELF.resolve("clear_refs"), "5".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException | RuntimeException forbidden) {
            // Then it is the peak since the JVM's start.
        }
    }

    /** The most memory in use at once, in bytes. */
    static long peakMemory() {
        long peak = number(text(SELF.resolve("status")), "\nVmHWM:") * 1024;
        return peak > 0 ? peak : Runtime.getRuntime().totalMemory();
    }

    private static long number(String text, String name) {
        int at = text.indexOf(name);
        if (at < 0) {
            return 0;
        }
        String rest = text.substring(at + name.length()).trim();
        int end = 0;
        while (end < rest.length() && Character.isDigit(rest.charAt(end))) {
            end++;
        }
        return end == 0 ? 0 : Long.parseLong(rest.substring(0, end));
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException | RuntimeException gone) {
            return "";
        }
    }
}
