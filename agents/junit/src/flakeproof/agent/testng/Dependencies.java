package flakeproof.agent.testng;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.testng.annotations.Test;

/**
 * What tests depend on, in place of TestNG.
 *
 * <p>A test is skipped when a test that it depends on ran before it, in the same group, and did not
 * pass. One that did not run, or runs later, does not matter: that is what another order means.
 */
final class Dependencies {
    private final Map<String, Integer> places;
    private final Map<String, Set<String>> needed = new HashMap<>();
    private final Class<?> type;

    /** Among the methods of a class that have these places. */
    Dependencies(String type, Map<String, Integer> places) {
        this.places = places;
        Class<?> found = null;
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            found = Class.forName(type, false, loader);
        } catch (ClassNotFoundException | LinkageError gone) {
            // TestNG will say so when it is to run it.
        }
        this.type = found;
    }

    /** Whether the tests' class has what this class declares. */
    boolean isOfType(Class<?> declaring) {
        return type == null || declaring.isAssignableFrom(type);
    }

    /** Notes what a method depends on; the names may be expressions. */
    void note(String method, String[] methods, String[] groups) {
        Set<String> names = new HashSet<>();
        for (String each : places.keySet()) {
            if (!each.equals(method) && (isOneOf(methods, each) || isInOneOf(groups, each))) {
                names.add(each);
            }
        }
        needed.put(method, names);
    }

    /** A method among these on which a method depends; null if there is none. */
    String lacking(String method, Set<String> notPassed) {
        for (String name : needed.getOrDefault(method, new HashSet<>())) {
            if (notPassed.contains(name)) {
                return name;
            }
        }
        return null;
    }

    private static boolean isOneOf(String[] wanted, String method) {
        for (String each : wanted == null ? new String[0] : wanted) {
            if (each.endsWith("." + method) || matches(each, method)) {
                return true;
            }
        }
        return false;
    }

    private boolean isInOneOf(String[] wanted, String method) {
        for (String each : wanted == null ? new String[0] : wanted) {
            for (String group : groupsOf(method)) {
                if (matches(each, group)) {
                    return true;
                }
            }
        }
        return false;
    }

    private List<String> groupsOf(String method) {
        List<String> groups = new ArrayList<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            addGroups(groups, each);
            for (Method declared : each.getDeclaredMethods()) {
                if (declared.getName().equals(method)) {
                    addGroups(groups, declared);
                }
            }
        }
        return groups;
    }

    private static void addGroups(List<String> groups, AnnotatedElement element) {
        Test annotation = element.getAnnotation(Test.class);
        if (annotation != null) {
            groups.addAll(Arrays.asList(annotation.groups()));
        }
    }

    private static boolean matches(String expression, String text) {
        try {
            return expression.equals(text) || Pattern.matches(expression, text);
        } catch (PatternSyntaxException noExpression) {
            return false;
        }
    }
}
