package flakeproof.agent.warm;

import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Lets a part of the worker see the JDK's own state.
 *
 * <p>Options such as {@code --add-opens} would give the tests the same view, and with it another
 * behaviour than in a new JVM. So the packages are opened to the module of one loader alone, in which
 * no class of the tests or of a framework is.
 */
public final class Agent {
    private static final String[] OPENED = {
        "java.io", "java.lang", "java.net", "java.rmi.server", "java.security", "java.sql",
        "java.util", "java.util.concurrent", "javax.management", "javax.naming.spi", "javax.net.ssl",
        "java.lang.management", "jdk.internal.loader", "jdk.internal.misc", "sun.net.www.http",
        "sun.net.www.protocol.http", "sun.security.jca",
    };

    private static Instrumentation instrumentation;

    private Agent() {}

    /** Called by the JVM before the worker's own start. */
    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    /** What puts the JDK's state back; the loader that it lives in has a view of the JDK. */
    static JdkState jdkState() throws ReflectiveOperationException {
        Inside inside = new Inside(Agent.class.getClassLoader());
        for (Module module : ModuleLayer.boot().modules()) {
            open(module, inside.getUnnamedModule());
        }
        Class<?> type = inside.loadClass("flakeproof.agent.warm.inside.PutBack");
        return (JdkState) type.getConstructor(Instrumentation.class).newInstance(instrumentation);
    }

    private static void open(Module module, Module to) {
        Set<String> names = new TreeSet<>(module.getPackages());
        Map<String, Set<Module>> opens = new HashMap<>();
        for (String name : OPENED) {
            if (names.contains(name)) {
                opens.put(name, Collections.singleton(to));
            }
        }
        if (!opens.isEmpty() && instrumentation.isModifiableModule(module)) {
            Set<Module> none = Collections.emptySet();
            instrumentation.redefineModule(
                    module, none, Collections.emptyMap(), opens, Collections.emptySet(),
                    Collections.emptyMap());
        }
    }

    /** Loads the classes with the view themselves, and everything else as usual. */
    private static final class Inside extends ClassLoader {
        private static final String PACKAGE = "flakeproof.agent.warm.inside.";

        Inside(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = getParent().getResourceAsStream(file)) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }
}
