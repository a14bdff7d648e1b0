package flakeproof.agent.platform;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/**
 * Lets Jupiter detect extensions that are on no list of the class path.
 *
 * <p>So they exist in a JVM that collects and nowhere else. The project's own stay hidden unless
 * the project wants them to be detected.
 */
final class ExtensionLoader extends ClassLoader {
    private static final String LIST =
            "META-INF/services/org.junit.jupiter.api.extension.Extension";

    private final String text;
    private final boolean isProjectsListSeen;

    ExtensionLoader(ClassLoader parent, List<String> extensions, boolean isProjectsListSeen) {
        super(parent);
        this.text = String.join("\n", extensions) + "\n";
        this.isProjectsListSeen = isProjectsListSeen;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        if (!name.equals(LIST)) {
            return super.getResources(name);
        }
        List<URL> lists = new ArrayList<>();
        lists.add(new URL(null, "flakeproof:extensions", new Handler()));
        if (isProjectsListSeen) {
            lists.addAll(Collections.list(super.getResources(name)));
        }
        return Collections.enumeration(lists);
    }

    private final class Handler extends URLStreamHandler {
        @Override
        protected URLConnection openConnection(URL url) {
            return new URLConnection(url) {
                @Override
                public void connect() {}

                @Override
                public InputStream getInputStream() {
                    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
                }
            };
        }
    }
}
