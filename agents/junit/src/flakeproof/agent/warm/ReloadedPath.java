package flakeproof.agent.warm;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.security.cert.Certificate;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.Manifest;

/**
 * The part of the class path that every environment loads anew, with the bytes of its classes in
 * memory.
 *
 * <p>What the JDK or a shared jar has under the same name comes first, as on one class path.
 */
final class ReloadedPath {
    private final ClassLoader shared;
    private final URLClassLoader files;
    private final Map<String, Optional<Found>> classes = new ConcurrentHashMap<>();

    ReloadedPath(List<String> entries, ClassLoader shared) throws MalformedURLException {
        this.shared = shared;
        URL[] urls = new URL[entries.size()];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = Paths.get(entries.get(i)).toUri().toURL();
        }
        // Without a parent: it finds files, and loads nothing.
        files = new URLClassLoader(urls, null);
    }

    /** The class of this name, if it is one that is loaded anew; null if it is not. */
    Found find(String name) {
        return classes.computeIfAbsent(name, this::look).orElse(null);
    }

    URL resource(String name) {
        return files.findResource(name);
    }

    Enumeration<URL> resources(String name) throws IOException {
        return files.findResources(name);
    }

    private Optional<Found> look(String name) {
        String file = name.replace('.', '/') + ".class";
        URL url = name.startsWith("java.") ? null : files.findResource(file);
        if (url == null || shared.getResource(file) != null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Found(url, file));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** The bytes of a class, and where they come from. */
    static final class Found {
        final byte[] bytes;
        final CodeSource source;
        final Manifest manifest;

        Found(URL url, String file) throws IOException {
            URLConnection connection = url.openConnection();
            try (InputStream in = connection.getInputStream()) {
                bytes = in.readAllBytes();
            }
            if (connection instanceof JarURLConnection) {
                JarURLConnection jar = (JarURLConnection) connection;
                manifest = jar.getManifest();
                source = new CodeSource(jar.getJarFileURL(), (Certificate[]) null);
            } else {
                manifest = null;
                String text = url.toString();
                String folder = text.substring(0, text.length() - file.length());
                source = new CodeSource(URI.create(folder).toURL(), (Certificate[]) null);
            }
        }
    }
}
