package flakeproof.agent.warm.inside;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Static fields of the JDK that programs can set, and counters that they see. */
final class Statics implements PutBack.Part {
    /** Class and fields. Not every JDK has all of them. */
    private static final String[][] KNOWN = {
        {"java.net.URL", "factory"},
        {"java.net.URLConnection", "factory", "fileNameMap", "defaultUseCaches"},
        {"java.net.HttpURLConnection", "followRedirects"},
        {"javax.net.ssl.HttpsURLConnection", "defaultHostnameVerifier", "defaultSSLSocketFactory"},
        {"javax.net.ssl.SSLContext", "defaultContext"},
        {"java.net.Socket", "factory"},
        {"java.net.ServerSocket", "factory"},
        {"java.net.DatagramSocket", "factory"},
        {"java.net.Authenticator", "theAuthenticator"},
        {"java.net.ProxySelector", "theProxySelector"},
        {"java.net.CookieHandler", "cookieHandler"},
        {"java.net.ResponseCache", "theResponseCache"},
        {"java.lang.Thread", "defaultUncaughtExceptionHandler", "threadInitNumber"},
        {"java.lang.Thread$ThreadNumbering", "next"},
        {"java.util.Timer", "nextSerialNumber"},
        {"java.util.concurrent.Executors$DefaultThreadFactory", "poolNumber"},
        {"java.util.concurrent.ForkJoinPool", "poolIds"},
        {"java.util.Locale", "defaultLocale", "defaultDisplayLocale", "defaultFormatLocale"},
        {"java.sql.DriverManager", "driversInitialized", "loginTimeout", "logWriter", "logStream"},
        {"javax.naming.spi.NamingManager", "initctx_factory_builder", "object_factory_builder"},
        {"java.rmi.server.RMISocketFactory", "factory", "handler"},
        {"sun.security.jca.Providers", "providerList"},
    };

    private final List<Kept> kept = new ArrayList<>();

    @Override
    public void remember() {
        for (String[] known : KNOWN) {
            for (int i = 1; i < known.length; i++) {
                Field field = field(known[0], known[i]);
                if (field != null) {
                    kept.add(new Kept(field));
                }
            }
        }
    }

    @Override
    public String putBack() throws Exception {
        for (Kept each : kept) {
            each.putBack();
        }
        return null;
    }

    /** Adds what is not as it was; counters are nobody's doing. */
    void describe(Picture picture) {
        for (Kept each : kept) {
            Object now = Kept.read(each.field);
            boolean isCount = now instanceof Number;
            if (!isCount && !Kept.same(now, each.value) && !isDefault(each.field)) {
                String name = each.field.getDeclaringClass().getName() + "." + each.field.getName();
                picture.changed("static_field", name, Texts.of(each.value), Texts.of(now));
            }
        }
    }

    /** Whether it is described as a default of the runtime. */
    private static boolean isDefault(Field field) {
        return field.getName().startsWith("default") && field.getDeclaringClass().getName().equals("java.util.Locale");
    }

    /** A static field that can be read; null if this JDK does not have it. */
    static Field field(String type, String name) {
        try {
            Class<?> there = Class.forName(type, true, ClassLoader.getPlatformClassLoader());
            Field field = there.getDeclaredField(name);
            field.setAccessible(true);
            return Modifier.isStatic(field.getModifiers()) ? field : null;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError missing) {
            return null;
        }
    }

    private static final class Kept {
        private final Field field;
        private final Object value;
        private final int count;

        Kept(Field field) {
            this.field = field;
            value = read(field);
            count = value instanceof AtomicInteger ? ((AtomicInteger) value).get() : 0;
        }

        void putBack() throws IllegalAccessException {
            if (value instanceof AtomicInteger) {
                ((AtomicInteger) value).set(count);
            } else if (!Modifier.isFinal(field.getModifiers()) && !same(read(field), value)) {
                field.set(null, value);
            }
        }

        private static boolean same(Object now, Object before) {
            return now == before || now instanceof Number && now.equals(before);
        }

        private static Object read(Field field) {
            try {
                return field.get(null);
            } catch (IllegalAccessException closed) {
                throw new IllegalStateException(closed);
            }
        }
    }
}
