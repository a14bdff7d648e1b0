package flakeproof.agent.warm.inside;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;

/**
 * Static fields of the project's classes that are not as their initialisers leave them.
 *
 * <p>To know that, the same classes are initialised once more in another loader. A class that is not
 * initialised has nothing to tell, and must not be touched.
 */
final class StaticFields {
    private final Instrumentation instrumentation;
    private final Picture picture;

    StaticFields(Instrumentation instrumentation, Picture picture) {
        this.instrumentation = instrumentation;
        this.picture = picture;
    }

    void describe(ClassLoader tests, ClassLoader anew) {
        for (Class<?> type : instrumentation.getAllLoadedClasses()) {
            if (type.getClassLoader() == tests && !type.isArray() && isInitialised(type)) {
                describe(type, anew);
            }
        }
    }

    private void describe(Class<?> type, ClassLoader anew) {
        Map<String, String> now;
        Map<String, String> before;
        try {
            now = texts(type);
            before = now.isEmpty() ? now : texts(Class.forName(type.getName(), true, anew));
        } catch (ClassNotFoundException | RuntimeException | LinkageError untold) {
            // Made at run time, or not initialised a second time: nothing to compare with.
            return;
        }
        now.forEach(
                (name, value) -> {
                    if (!value.equals(before.get(name))) {
                        String whole = type.getName() + "." + name;
                        picture.changed("static_field", whole, before.get(name), value);
                    }
                });
    }

    private static Map<String, String> texts(Class<?> type) {
        Map<String, String> texts = new TreeMap<>();
        for (Field field : type.getDeclaredFields()) {
            int modifiers = field.getModifiers();
            boolean isConstant = Modifier.isFinal(modifiers) && isValue(field.getType());
            // Names with a dollar sign are those of compilers and coverage tools.
            boolean isMade = field.isSynthetic() || field.getName().contains("$");
            if (Modifier.isStatic(modifiers) && !isConstant && !isMade) {
                field.setAccessible(true);
                texts.put(field.getName(), Texts.of(Texts.read(field, null)));
            }
        }
        return texts;
    }

    private static boolean isValue(Class<?> type) {
        return type.isPrimitive() || type == String.class || type.isEnum();
    }

    private static boolean isInitialised(Class<?> type) {
        try {
            Class<?> unsafe = Class.forName("jdk.internal.misc.Unsafe");
            Object the = unsafe.getMethod("getUnsafe").invoke(null);
            Method asked = unsafe.getMethod("shouldBeInitialized", Class.class);
            asked.setAccessible(true);
            return !(Boolean) asked.invoke(the, type);
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            return false;
        }
    }
}
