package flakeproof.agent.warm;

import java.io.IOException;
import java.net.URL;
import java.security.ProtectionDomain;
import java.util.Enumeration;
import java.util.jar.Attributes;
import java.util.jar.Manifest;

/** Loads the project's classes for one environment: with it, their state begins anew. */
final class EnvironmentLoader extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    private final ReloadedPath path;

    EnvironmentLoader(ReloadedPath path, ClassLoader shared) {
        super(shared);
        this.path = path;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        ReloadedPath.Found found = path.find(name);
        if (found == null) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                loaded = define(name, found);
            }
            if (resolve) {
                resolveClass(loaded);
            }
            return loaded;
        }
    }

    @Override
    protected URL findResource(String name) {
        return path.resource(name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
        return path.resources(name);
    }

    private Class<?> define(String name, ReloadedPath.Found found) {
        int end = name.lastIndexOf('.');
        String packageName = end < 0 ? "" : name.substring(0, end);
        if (getDefinedPackage(packageName) == null) {
            describe(packageName, found);
        }
        ProtectionDomain domain = new ProtectionDomain(found.source, null, this, null);
        return defineClass(name, found.bytes, 0, found.bytes.length, domain);
    }

    private void describe(String name, ReloadedPath.Found found) {
        try {
            if (found.manifest == null) {
                definePackage(name, null, null, null, null, null, null, null);
                return;
            }
            definePackage(
                    name,
                    value(found.manifest, name, Attributes.Name.SPECIFICATION_TITLE),
                    value(found.manifest, name, Attributes.Name.SPECIFICATION_VERSION),
                    value(found.manifest, name, Attributes.Name.SPECIFICATION_VENDOR),
                    value(found.manifest, name, Attributes.Name.IMPLEMENTATION_TITLE),
                    value(found.manifest, name, Attributes.Name.IMPLEMENTATION_VERSION),
                    value(found.manifest, name, Attributes.Name.IMPLEMENTATION_VENDOR),
                    null);
        } catch (IllegalArgumentException another) {
            // Another thread was faster.
        }
    }

    private static String value(Manifest manifest, String name, Attributes.Name wanted) {
        Attributes own = manifest.getAttributes(name.replace('.', '/') + "/");
        String value = own == null ? null : own.getValue(wanted);
        return value == null ? manifest.getMainAttributes().getValue(wanted) : value;
    }
}
