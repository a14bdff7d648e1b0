package flakeproof.agent.warm.inside;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Collections of the JDK that programs fill: protocols, drivers, security properties, servers. */
final class Contents implements PutBack.Part {
    private static final String[][] KNOWN = {
        {"java.net.URL", "handlers"},
        {"java.net.URLConnection", "handlers"},
        {"java.net.URLConnection", "defaultCaching"},
        {"java.security.Security", "props"},
        {"java.sql.DriverManager", "registeredDrivers"},
        {"javax.management.MBeanServerFactory", "mBeanServerList"},
        // Connections that outlive their test would be used by the next one.
        {"sun.net.www.http.HttpClient", "kac"},
    };

    private final Map<Field, Object> kept = new HashMap<>();

    @Override
    public void remember() {
        for (String[] known : KNOWN) {
            Field field = Statics.field(known[0], known[1]);
            Object now = field == null ? null : now(field);
            if (now instanceof Map) {
                kept.put(field, new HashMap<>((Map<?, ?>) now));
            } else if (now instanceof Collection) {
                kept.put(field, new ArrayList<>((Collection<?>) now));
            }
        }
    }

    @Override
    public String putBack() throws Exception {
        for (Map.Entry<Field, Object> each : kept.entrySet()) {
            putBack(now(each.getKey()), each.getValue());
        }
        forgetPasswords();
        return null;
    }

    @SuppressWarnings("unchecked")
    private static void putBack(Object now, Object before) {
        if (now instanceof Map && !now.equals(before)) {
            ((Map<Object, Object>) now).clear();
            ((Map<Object, Object>) now).putAll((Map<Object, Object>) before);
        } else if (now instanceof List && !now.equals(before)) {
            ((List<Object>) now).clear();
            ((List<Object>) now).addAll((Collection<Object>) before);
        }
    }

    private static Object now(Field field) {
        try {
            return field.get(null);
        } catch (IllegalAccessException closed) {
            throw new IllegalStateException(closed);
        }
    }

    /** What was typed for one server is not tried with the next one on the same port. */
    private static void forgetPasswords() {
        Field cache = Statics.field("sun.net.www.protocol.http.AuthCacheValue", "cache");
        if (cache == null) {
            return;
        }
        try {
            cache.set(null, cache.get(null).getClass().getConstructor().newInstance());
        } catch (ReflectiveOperationException | RuntimeException other) {
            // Newer JDKs keep them with the authenticator, which is put back.
        }
    }
}
