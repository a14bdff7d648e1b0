package flakeproof.agent.warm.inside;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** Native libraries: a second loader cannot load one that the first has loaded. */
final class Natives implements PutBack.Part {
    private Field names;
    private String home;

    @Override
    public void remember() {
        home = System.getProperty("java.home");
        names = Statics.field("jdk.internal.loader.NativeLibraries", "loadedLibraryNames");
    }

    @Override
    public String putBack() throws Exception {
        Object now = names == null ? null : names.get(null);
        Set<String> loaded = new HashSet<>();
        if (now instanceof Collection) {
            for (Object name : new ArrayList<>((Collection<?>) now)) {
                loaded.add(String.valueOf(name));
            }
        }
        // A library of the JDK is loaded by the JDK, for all.
        loaded.removeIf(name -> name.startsWith(home) || !name.contains("/"));
        return loaded.isEmpty() ? null : "a test loaded a native library";
    }
}
