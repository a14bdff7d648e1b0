package flakeproof.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What flakeproof tells about the suite, as the build tool is configured. */
public final class Settings {
    /** {@code platform}, {@code junit4} or {@code testng}. */
    public final String framework;

    /** The candidates, by the build tool's scan and in its order. */
    public final List<String> classes;

    /** The tags, categories or groups to run; nothing for all. */
    public final String groups;

    /** Those not to run. */
    public final String excludedGroups;

    /** Parameters of the framework. */
    public final Map<String, String> parameters = new LinkedHashMap<>();

    /** The tests that are wanted at all. */
    public final Selection selection;

    /** The system property that counts the attempts. */
    final String attemptProperty;

    /** What each environment of a warm JVM loads anew; empty where a JVM is one environment. */
    final List<String> reloaded;

    /** The class path that tests of a warm JVM see. */
    final String shownPath;

    Settings(Map<String, Object> from) {
        framework = text(from, "framework", "platform");
        classes = texts(from.get("classes"));
        groups = text(from, "groups", "").trim();
        excludedGroups = text(from, "excluded_groups", "").trim();
        selection = new Selection(texts(from.get("methods")));
        attemptProperty = text(from, "attempt_property", "flakeproof.attempt");
        reloaded = texts(from.get("reloaded"));
        shownPath = text(from, "shown_path", "");
        Object given = from.get("parameters");
        if (given != null) {
            Json.object(given).forEach((key, value) -> parameters.put(key, String.valueOf(value)));
        }
    }

    /** Whether environments follow one another in this JVM. */
    boolean isWarm() {
        return !shownPath.isEmpty();
    }

    private static String text(Map<String, Object> from, String key, String otherwise) {
        Object value = from.get(key);
        return value == null ? otherwise : value.toString();
    }

    private static List<String> texts(Object value) {
        List<String> texts = new ArrayList<>();
        for (Object each : Json.array(value)) {
            texts.add(each.toString());
        }
        return texts;
    }
}
