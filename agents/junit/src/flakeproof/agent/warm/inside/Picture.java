package flakeproof.agent.warm.inside;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;
import java.util.TreeMap;

/** What tests can leave behind: things by kind and name, as they are and as they began. */
final class Picture {
    /** Counts the attempts, and is set by the worker. */
    private static final String OWN_PROPERTY = "flakeproof.";

    private final Map<String, Map<String, String>> things = new TreeMap<>();
    private final Map<String, Map<String, String>> initial = new TreeMap<>();

    Map<String, Object> message() {
        Map<String, Object> message = new HashMap<>();
        message.put("things", things);
        message.put("initial", initial);
        return message;
    }

    /** Adds a thing; a value that it does not have is null. */
    void changed(String kind, String name, String before, String after) {
        put(initial, kind, name, before);
        put(things, kind, name, after);
    }

    private static void put(
            Map<String, Map<String, String>> into, String kind, String name, String value) {
        if (value != null) {
            into.computeIfAbsent(kind, each -> new TreeMap<>()).put(name, value);
        }
    }

    void properties(Properties before) {
        Properties now = System.getProperties();
        for (Object name : union(before, now)) {
            Object was = before.get(name);
            Object is = now.get(name);
            boolean isOurs = String.valueOf(name).startsWith(OWN_PROPERTY);
            // The JVM itself sets it when somebody asks for the zone.
            boolean isZone = "user.timezone".equals(name);
            if (!isOurs && !isZone && !java.util.Objects.equals(was, is)) {
                String kind = "system_property";
                changed(kind, String.valueOf(name), quoted(was), quoted(is));
            }
        }
    }

    void defaults(Properties before) {
        changed("runtime_default", "locale", localeOf(before), Locale.getDefault().toString());
        String zone = before.getProperty("user.timezone");
        String now = TimeZone.getDefault().getID();
        if (zone == null || zone.isEmpty()) {
            TimeZone set = TimeZone.getDefault();
            TimeZone.setDefault(null);
            zone = TimeZone.getDefault().getID();
            TimeZone.setDefault(set);
        }
        changed("runtime_default", "time zone", zone, now);
        streams("standard output", System.out);
        streams("standard error", System.err);
    }

    private void streams(String name, Object stream) {
        String type = stream == null ? "null" : stream.getClass().getName();
        boolean isOurs = stream instanceof java.io.PrintStream && Texts.isTheWorkers(stream);
        changed("runtime_default", name, "as it was", isOurs ? "as it was" : "another " + type);
    }

    private static String localeOf(Properties before) {
        Locale.Builder builder = new Locale.Builder();
        try {
            builder.setLanguage(before.getProperty("user.language", ""));
            builder.setRegion(before.getProperty("user.country", ""));
            builder.setVariant(before.getProperty("user.variant", ""));
            builder.setScript(before.getProperty("user.script", ""));
            return builder.build().toString();
        } catch (java.util.IllformedLocaleException odd) {
            return Locale.getDefault().toString();
        }
    }

    void threads(ThreadGroup group) {
        Thread[] alive = new Thread[group.activeCount() + 16];
        int count = group.enumerate(alive, true);
        for (int i = 0; i < count; i++) {
            if (alive[i] != Thread.currentThread()) {
                put(things, "thread", alive[i].getName(), alive[i].getClass().getName());
            }
        }
    }

    private static Iterable<Object> union(Properties one, Properties other) {
        java.util.Set<Object> names = new java.util.HashSet<>(one.keySet());
        names.addAll(other.keySet());
        return names;
    }

    private static String quoted(Object value) {
        return value == null ? null : Texts.of(value);
    }
}
