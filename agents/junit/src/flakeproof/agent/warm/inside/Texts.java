package flakeproof.agent.warm.inside;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Short texts of values, by which one is told from another.
 *
 * <p>No method of the project is called for them: fields are read, and collections of the JDK are
 * looked through.
 */
final class Texts {
    private static final int LONGEST = 200;
    private static final int MOST = 8;
    private static final int DEEPEST = 3;

    private Texts() {}

    static String of(Object value) {
        String text;
        try {
            text = of(value, DEEPEST);
        } catch (RuntimeException | StackOverflowError unreadable) {
            text = value.getClass().getName();
        }
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
    }

    /** Whether a stream is the one that the worker stands in for the JVM's. */
    static boolean isTheWorkers(Object stream) {
        Field field = declared(java.io.FilterOutputStream.class, "out");
        Object inner = field == null ? null : read(field, stream);
        return inner != null && inner.getClass().getName().startsWith("flakeproof.agent.");
    }

    private static String of(Object value, int depth) {
        if (value == null) {
            return "null";
        }
        Class<?> type = value.getClass();
        if (value instanceof String) {
            return '"' + (String) value + '"';
        }
        if (value instanceof Number || value instanceof Boolean || value instanceof Character) {
            return isOfTheJdk(type) ? value.toString() : name(type);
        }
        if (value instanceof Enum) {
            return name(((Enum<?>) value).getDeclaringClass()) + "." + ((Enum<?>) value).name();
        }
        if (value instanceof Class) {
            return ((Class<?>) value).getName();
        }
        if (value instanceof AtomicBoolean) {
            return value.toString();
        }
        if (value instanceof AtomicReference) {
            return of(((AtomicReference<?>) value).get(), depth);
        }
        return depth == 0 ? name(type) : parts(value, type, depth);
    }

    private static String parts(Object value, Class<?> type, int depth) {
        if (type.isArray()) {
            int length = Array.getLength(value);
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < Math.min(length, MOST); i++) {
                texts.add(of(Array.get(value, i), depth - 1));
            }
            return name(type.getComponentType()) + "[" + length + "]" + texts;
        }
        if (isOfTheJdk(type)) {
            return ofTheJdk(value, type, depth);
        }
        List<String> texts = new ArrayList<>();
        for (Class<?> each = type; each != null && !isOfTheJdk(each); each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    field.setAccessible(true);
                    texts.add(field.getName() + "=" + of(read(field, value), depth - 1));
                }
            }
        }
        return texts.isEmpty() ? name(type) : name(type) + texts;
    }

    private static String ofTheJdk(Object value, Class<?> type, int depth) {
        List<String> texts = new ArrayList<>();
        if (value instanceof Map) {
            for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                texts.add(of(each.getKey(), depth - 1) + "=" + of(each.getValue(), depth - 1));
            }
            Collections.sort(texts);
        } else if (value instanceof Collection) {
            for (Object each : (Collection<?>) value) {
                texts.add(of(each, depth - 1));
            }
            if (value instanceof Set) {
                Collections.sort(texts);
            }
        } else {
            return name(type);
        }
        int count = texts.size();
        return name(type) + " of " + count + texts.subList(0, Math.min(count, MOST));
    }

    private static boolean isOfTheJdk(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader == null || loader == ClassLoader.getPlatformClassLoader();
    }

    /** A class without its package. */
    private static String name(Class<?> type) {
        String name = type.getName();
        // The number of a lambda's class is another in each JVM.
        int lambda = name.indexOf("$$Lambda");
        name = lambda < 0 ? name : name.substring(0, lambda) + " lambda";
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static Field declared(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException | RuntimeException missing) {
            return null;
        }
    }

    static Object read(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException closed) {
            throw new IllegalStateException(closed);
        }
    }
}
