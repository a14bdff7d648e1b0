package flakeproof.agent.warm.inside;

import java.lang.reflect.Field;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;

/**
 * The threads of the JDK's common pool, which outlive every test that uses parallel streams or
 * completable futures. They go on once they are idle, without what tests have put into them.
 */
final class CommonPool implements PutBack.Part {
    /** How long what tests gave to the pool may take to end, in milliseconds. */
    private static final long PATIENCE = 1000;

    @Override
    public void remember() {}

    @Override
    public String putBack() throws ReflectiveOperationException {
        ForkJoinPool pool = ForkJoinPool.commonPool();
        if (pool.getPoolSize() == 0) {
            return null;
        }
        if (!pool.awaitQuiescence(PATIENCE, TimeUnit.MILLISECONDS)) {
            return "a test's task in the common pool does not end";
        }
        Field locals = Thread.class.getDeclaredField("threadLocals");
        Field inherited = Thread.class.getDeclaredField("inheritableThreadLocals");
        locals.setAccessible(true);
        inherited.setAccessible(true);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread instanceof ForkJoinWorkerThread
                    && ((ForkJoinWorkerThread) thread).getPool() == pool) {
                locals.set(thread, null);
                inherited.set(thread, null);
                thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
            }
        }
        return null;
    }
}
