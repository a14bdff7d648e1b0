package flakeproof.agent.measure;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Follows the lines of the project's own classes, and the processes that tests start:
 * {@code -javaagent:JAR=FOLDERS}, where the file {@code FOLDERS} has a folder with classes in each line.
 */
public final class Agent {
    private static final int ARETURN = 0xb0;
    private static final int INVOKESTATIC = 0xb8;

    private Agent() {}

    /** Called by the JVM before the worker's own start. */
    public static void premain(String settings, Instrumentation instrumentation) throws Exception {
        Set<String> folders = new HashSet<>(Files.readAllLines(Paths.get(settings)));
        // A class that is in use must be there before classes that are loaded for it are looked at.
        Lines.forget();
        LineProbes.class.getMethods();
        watchProcesses(instrumentation);
        instrumentation.addTransformer(new Followed(folders));
        Measure.agentIsThere();
    }

    /** Puts probes into the classes of some folders. */
    private static final class Followed implements ClassFileTransformer {
        private final Set<String> folders;

        Followed(Set<String> folders) {
            this.folders = folders;
        }

        @Override
        public byte[] transform(
                ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
            if (loader == null || name == null || type != null || !isOfProject(domain)) {
                return null;
            }
            try {
                return LineProbes.put(name, bytes);
            } catch (IOException | RuntimeException unreadable) {
                Lines.lose("`" + name.replace('/', '.') + "` cannot be followed: " + unreadable);
                return null;
            }
        }

        private boolean isOfProject(ProtectionDomain domain) {
            CodeSource source = domain == null ? null : domain.getCodeSource();
            if (source == null || source.getLocation() == null) {
                return false;
            }
            try {
                URI place = source.getLocation().toURI();
                Path path = "file".equals(place.getScheme()) ? Paths.get(place) : null;
                return path != null && folders.contains(path.toString());
            } catch (URISyntaxException | IllegalArgumentException elsewhere) {
                return false;
            }
        }
    }

    private static void watchProcesses(Instrumentation instrumentation) {
        // It is loaded before anybody looks at what is loaded.
        Class<?> starting = ProcessBuilder.class;
        boolean[] isWatched = new boolean[1];
        ClassFileTransformer transformer =
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> type, ProtectionDomain domain,
                            byte[] bytes) {
                        byte[] watched = type == starting ? watched(bytes) : null;
                        isWatched[0] |= watched != null;
                        return watched;
                    }
                };
        instrumentation.addTransformer(transformer, true);
        try {
            instrumentation.retransformClasses(starting);
            if (isWatched[0]) {
                Measure.processesAreWatched();
            }
        } catch (UnmodifiableClassException | LinkageError unchanged) {
            // Then the number of processes is not known.
        } finally {
            instrumentation.removeTransformer(transformer);
        }
    }

    /** The class that starts processes, and tells when it has started one; null if that cannot be. */
    private static byte[] watched(byte[] bytes) {
        try {
            ClassEditor editor = new ClassEditor(bytes);
            int call = editor.constants.method(
                    Measure.class.getName().replace('.', '/'), "processStarted", "()V");
            byte[] tell = {(byte) INVOKESTATIC, (byte) (call >> 8), (byte) call};
            for (ClassEditor.Method method : editor.methods) {
                if (!"start".equals(editor.constants.text(method.name)) || method.code < 0) {
                    continue;
                }
                CodeEditor code = new CodeEditor(method.attributes.get(method.code), editor.constants);
                Map<Integer, byte[]> before = new HashMap<>();
                code.all(ARETURN).forEach(at -> before.put(at, tell));
                method.attributes.set(method.code, code.with(before, 0));
            }
            return editor.bytes();
        } catch (IOException | RuntimeException unreadable) {
            return null;
        }
    }
}
