package flakeproof.agent.warm.inside;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** What a new JVM does at its end, and what it ends with: hooks, files to delete, beans. */
final class Leftovers implements PutBack.Part {
    /** How long hooks may take, in milliseconds. */
    private static final long PATIENCE = 2000;

    /** Beans of the JDK's own. */
    private static final Set<String> DOMAINS =
            new HashSet<>(
                    Arrays.asList(
                            "JMImplementation", "java.lang", "java.nio", "java.util.logging",
                            "com.sun.management", "jdk.management.jfr"));

    private Field hooks;
    private Field files;
    private Field server;
    private final Set<Thread> known = java.util.Collections.newSetFromMap(new IdentityHashMap<>());

    @Override
    public void remember() {
        hooks = Statics.field("java.lang.ApplicationShutdownHooks", "hooks");
        files = Statics.field("java.io.DeleteOnExitHook", "files");
        server = Statics.field("java.lang.management.ManagementFactory", "platformMBeanServer");
        known.addAll(registered());
    }

    @Override
    public String putBack() throws Exception {
        String why = runHooks();
        deleteFiles();
        if (server != null && server.get(null) != null) {
            unregister(ManagementFactory.getPlatformMBeanServer());
        }
        return why;
    }

    private Collection<Thread> registered() {
        try {
            Object now = hooks == null ? null : hooks.get(null);
            return now == null ? new ArrayList<>() : new ArrayList<>(((Map<Thread, ?>) now).keySet());
        } catch (IllegalAccessException closed) {
            throw new IllegalStateException(closed);
        }
    }

    private String runHooks() throws InterruptedException {
        List<Thread> started = new ArrayList<>();
        for (Thread hook : registered()) {
            if (!known.contains(hook)) {
                Runtime.getRuntime().removeShutdownHook(hook);
                hook.start();
                started.add(hook);
            }
        }
        long end = System.currentTimeMillis() + PATIENCE;
        for (Thread hook : started) {
            hook.join(Math.max(1, end - System.currentTimeMillis()));
            if (hook.isAlive()) {
                return "a shutdown hook of a test does not end";
            }
        }
        return null;
    }

    private void deleteFiles() throws IllegalAccessException {
        Object now = files == null ? null : files.get(null);
        if (!(now instanceof Collection)) {
            return;
        }
        List<String> paths = new ArrayList<>();
        synchronized (now) {
            for (Object path : (Collection<?>) now) {
                paths.add(0, String.valueOf(path));
            }
            ((Collection<?>) now).clear();
        }
        for (String path : paths) {
            new File(path).delete();
        }
    }

    private static void unregister(MBeanServer from) throws Exception {
        for (ObjectName name : from.queryNames(null, null)) {
            if (!DOMAINS.contains(name.getDomain())) {
                from.unregisterMBean(name);
            }
        }
    }
}
