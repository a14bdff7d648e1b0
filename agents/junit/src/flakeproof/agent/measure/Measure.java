package flakeproof.agent.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one test uses and covers, from its beginning to its end. */
public final class Measure {
    private static volatile boolean hasAgent;
    private static volatile boolean areProcessesWatched;
    private static volatile int mostChildren;

    /** Threads besides the main one that the JVM and the worker have for themselves. */
    private static int ownThreads = -1;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Accounts before;

    private Measure() {
        if (ownThreads < 0) {
            ownThreads = threads.getThreadCount() - 1;
        }
        threads.resetPeakThreadCount();
        mostChildren = Accounts.children();
        Lines.forget();
        Accounts.forgetPeakMemory();
        before = new Accounts();
    }

    /** A test begins. */
    public static Measure begin() {
        return new Measure();
    }

    static void agentIsThere() {
        hasAgent = true;
    }

    static void processesAreWatched() {
        areProcessesWatched = true;
    }

    /** A process was started: now there may be more of them than ever before. */
    public static void processStarted() {
        mostChildren = Math.max(mostChildren, Accounts.children());
    }

    /** The test ends: what it used. */
    public Map<String, Object> end() {
        Accounts now = new Accounts();
        String unknown = hasAgent ? Lines.unknown() : "this JVM was started without measuring";
        List<Object> lines = Lines.all();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("read_count", now.reads - before.reads);
        all.put("write_count", now.writes - before.writes);
        all.put("wait_time", now.waitedSince(before));
        all.put("context_switches", now.switchesSince(before));
        all.put("max_threads", Math.max(1, threads.getPeakThreadCount() - ownThreads));
        all.put("max_children", areProcessesWatched && mostChildren >= 0 ? mostChildren : null);
        all.put("max_memory", Accounts.peakMemory());
        all.put("files", Lines.newFiles());
        all.put("lines", unknown == null ? lines : new Object[0]);
        all.put("lines_unknown", unknown);
        return all;
    }
}
