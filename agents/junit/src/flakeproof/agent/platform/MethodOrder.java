package flakeproof.agent.platform;

import flakeproof.agent.Settings;
import java.lang.annotation.Annotation;

/** Whether a class, or the project, says in which order methods run. */
final class MethodOrder {
    private static final String ANNOTATION = "org.junit.jupiter.api.TestMethodOrder";
    private static final String DEFAULT = "junit.jupiter.testmethod.order.default";

    private MethodOrder() {}

    static boolean isGiven(Settings settings, String type) {
        if (settings.parameters.containsKey(DEFAULT)
                || System.getProperty(DEFAULT) != null
                || PlatformProperties.get(DEFAULT) != null) {
            return true;
        }
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            return isAnnotated(Class.forName(type, false, loader));
        } catch (ClassNotFoundException | LinkageError unknown) {
            return true;
        }
    }

    /** Subclasses and, in newer versions, nested classes inherit the annotation. */
    private static boolean isAnnotated(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getEnclosingClass()) {
            for (Annotation annotation : each.getAnnotations()) {
                if (annotation.annotationType().getName().equals(ANNOTATION)) {
                    return true;
                }
            }
        }
        return false;
    }
}
