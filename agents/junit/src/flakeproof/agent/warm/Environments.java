package flakeproof.agent.warm;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Environments one after another in one JVM: each with its own loader for the project's classes, its
 * own thread and thread group, and the JDK's state as it was.
 */
public final class Environments {
    /** So many loaders may be reachable: beyond that, something keeps what tests leave. */
    private static final int MOST_LOADERS = 50;

    /** After so many environments a JVM is no longer young. */
    private static final int MOST_ENVIRONMENTS = 2000;

    /** How long threads of a test may take to end when they are interrupted, in milliseconds. */
    private static final long PATIENCE = 1000;

    /** The loader of what environments share. */
    private static final ClassLoader SHARED = Environments.class.getClassLoader();

    private final ReloadedPath path;
    private final JdkState jdk;
    private final List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
    private int count;

    private Environments(List<String> reloaded, String shownPath) throws Exception {
        System.setProperty("java.class.path", shownPath);
        System.clearProperty("java.system.class.loader");
        path = new ReloadedPath(reloaded, SHARED);
        jdk = Agent.jdkState();
        jdk.remember();
    }

    /**
     * Runs environments until one says that it was the last.
     *
     * @param reloaded the entries of the class path that each loads anew
     * @param shownPath the class path that tests see
     * @param streams stands in for the standard streams, anew for each environment
     * @param inside runs one environment, and may look at it; true if another one is wanted
     * @param tell told after each environment why the JVM cannot be used any more, or null
     */
    public static void run(
            List<String> reloaded,
            String shownPath,
            Runnable streams,
            Function<Supplier<Map<String, Object>>, Boolean> inside,
            java.util.function.Consumer<String> tell)
            throws Exception {
        Environments all = new Environments(reloaded, shownPath);
        while (all.one(streams, inside)) {
            tell.accept(all.end(streams));
        }
    }

    private ThreadGroup group;

    private boolean one(Runnable streams, Function<Supplier<Map<String, Object>>, Boolean> inside)
            throws InterruptedException {
        count++;
        ThreadGroup above = Thread.currentThread().getThreadGroup().getParent();
        group = new ThreadGroup(above, "main");
        ClassLoader loader = new EnvironmentLoader(path, SHARED);
        SystemLoader.lead(loader);
        loaders.add(new WeakReference<>(loader));
        boolean[] goesOn = new boolean[1];
        ClassLoader[] given = {loader};
        ThreadGroup own = group;
        Supplier<Map<String, Object>> look =
                () -> jdk.look(given[0], new EnvironmentLoader(path, SHARED), own);
        Thread thread =
                new Thread(group, () -> goesOn[0] = inside.apply(look), "main", 0, false);
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join();
        given[0] = null;
        SystemLoader.lead(null);
        return goesOn[0];
    }

    /** Puts everything back; why this JVM cannot be used any more, or null. */
    private String end(Runnable streams) throws InterruptedException {
        String why = endThreads();
        why = why == null ? jdk.putBack() : why;
        streams.run();
        if (why == null && count >= MOST_ENVIRONMENTS) {
            why = "it is no longer young";
        }
        return why == null && hasTooManyLoaders() ? "what tests left cannot be collected" : why;
    }

    private String endThreads() throws InterruptedException {
        long end = System.currentTimeMillis() + PATIENCE;
        while (true) {
            Thread alive = oneAlive();
            if (alive == null) {
                return null;
            }
            group.interrupt();
            long left = end - System.currentTimeMillis();
            if (left <= 0) {
                return "the thread `" + alive.getName() + "` of a test does not end";
            }
            alive.join(Math.min(left, 20));
        }
    }

    /** A thread that a test started and that lives; null if there is none. Those of the JDK's common
     * pool are no test's, and are put back with the JDK. */
    private Thread oneAlive() {
        Thread[] all = new Thread[group.activeCount() + 16];
        int found = group.enumerate(all, true);
        for (int at = 0; at < found; at++) {
            boolean isOfPool = all[at] instanceof ForkJoinWorkerThread
                    && ((ForkJoinWorkerThread) all[at]).getPool() == ForkJoinPool.commonPool();
            if (!isOfPool) {
                return all[at];
            }
        }
        return null;
    }

    private boolean hasTooManyLoaders() {
        loaders.removeIf(loader -> loader.get() == null);
        if (loaders.size() <= MOST_LOADERS) {
            return false;
        }
        System.gc();
        loaders.removeIf(loader -> loader.get() == null);
        return loaders.size() > MOST_LOADERS;
    }
}
