package flakeproof.agent.warm;

import java.io.IOException;
import java.net.URL;
import java.util.Enumeration;

/**
 * The system's loader in a warm JVM: whoever asks it finds the classes of the current environment, as
 * there is only one loader for them in a new JVM.
 */
public final class SystemLoader extends ClassLoader {
    private static volatile ClassLoader current;

    /** Called by the JVM with the loader of its class path. */
    public SystemLoader(ClassLoader parent) {
        super(parent);
    }

    /** From now on, these are the classes; null for those that environments share. */
    static void lead(ClassLoader to) {
        current = to;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        ClassLoader loader = current;
        return loader == null ? super.loadClass(name, resolve) : loader.loadClass(name);
    }

    @Override
    public URL getResource(String name) {
        ClassLoader loader = current;
        return loader == null ? super.getResource(name) : loader.getResource(name);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        ClassLoader loader = current;
        return loader == null ? super.getResources(name) : loader.getResources(name);
    }

    /** Called by the JVM to add the jar of an agent: the worker's own is on the class path. */
    void appendToClassPathForInstrumentation(String jar) {}
}
