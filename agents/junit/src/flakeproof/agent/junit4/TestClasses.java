package flakeproof.agent.junit4;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import junit.framework.TestCase;
import org.junit.Test;
import org.junit.runner.RunWith;

/** Tells classes with tests from others; JUnit itself takes a class without tests for an error. */
final class TestClasses {
    /** Runs tests of the JUnit Platform, which that runs itself. */
    private static final String BRIDGE = "org.junit.platform.runner.JUnitPlatform";

    private TestClasses() {}

    static boolean isOne(Class<?> type) {
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            return false;
        }
        RunWith runner = type.getAnnotation(RunWith.class);
        if (runner != null) {
            return !runner.value().getName().equals(BRIDGE);
        }
        return TestCase.class.isAssignableFrom(type) || hasSuite(type) || hasTest(type);
    }

    private static boolean hasSuite(Class<?> type) {
        try {
            Method suite = type.getMethod("suite");
            boolean isStatic = Modifier.isStatic(suite.getModifiers());
            return isStatic && junit.framework.Test.class.isAssignableFrom(suite.getReturnType());
        } catch (NoSuchMethodException none) {
            return false;
        }
    }

    private static boolean hasTest(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.isAnnotationPresent(Test.class)) {
                    return true;
                }
            }
        }
        return false;
    }
}
