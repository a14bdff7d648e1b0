package flakeproof.agent.testng;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.testng.ITestNGMethod;
import org.testng.ITestResult;
import org.testng.annotations.Test;

/** The rows of data providers. */
final class Rows {
    private Rows() {}

    /** Whether an invocation is another attempt, by TestNG itself, at the row before it. */
    static boolean isRetry(ITestResult result, Object[] before) {
        Method method = result.getMethod().getConstructorOrMethod().getMethod();
        Test annotation = method.getAnnotation(Test.class);
        boolean isRetried = annotation != null && isAnalyzer(annotation.retryAnalyzer());
        Object[] here = result.getParameters();
        boolean isSame = isRetried && here.length == before.length;
        for (int i = 0; isSame && i < here.length; i++) {
            isSame = here[i] == before[i];
        }
        return isSame;
    }

    /** The values of a row, where writing them runs none of the project's code; else null. */
    static String written(Object[] row) {
        for (Object value : row) {
            boolean isPlain = value == null || value instanceof String || value instanceof Enum
                    || value.getClass().getName().startsWith("java.lang.");
            if (!isPlain) {
                return null;
            }
        }
        return row.length == 0 ? null : Arrays.toString(row);
    }

    /** Whether a method is run once for each row of a data provider. */
    static boolean has(ITestNGMethod method) {
        Method real = method.getConstructorOrMethod().getMethod();
        if (hasProvider(real)) {
            return true;
        }
        for (Class<?> each = RealClass.of(method); each != null; each = each.getSuperclass()) {
            if (hasProvider(each)) {
                return true;
            }
        }
        return false;
    }

    /** Whether any method of a class is. */
    static boolean hasAny(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            boolean isHere = hasProvider(each);
            for (Method method : each.getDeclaredMethods()) {
                isHere |= hasProvider(method);
            }
            if (isHere) {
                return true;
            }
        }
        return false;
    }

    /** Without one, the annotation names a class of the JDK or of TestNG itself. */
    private static boolean isAnalyzer(Class<?> type) {
        return !type.getName().startsWith("java.") && !type.getName().startsWith("org.testng.");
    }

    private static boolean hasProvider(AnnotatedElement element) {
        Test annotation = element.getAnnotation(Test.class);
        return annotation != null && !annotation.dataProvider().isEmpty();
    }
}
