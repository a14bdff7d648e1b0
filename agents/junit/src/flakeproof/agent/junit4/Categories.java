package flakeproof.agent.junit4;

import flakeproof.agent.Groups;
import flakeproof.agent.Settings;
import java.lang.annotation.Annotation;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Chooses tests by category, as Surefire does.
 *
 * <p>JUnit has categories since 4.8 only; so the annotation is met by its name.
 */
final class Categories {
    private static final String CATEGORY = "org.junit.experimental.categories.Category";

    private Categories() {}

    static boolean want(Settings settings, Leaf leaf, Class<?> root) {
        if (settings.groups.isEmpty() && settings.excludedGroups.isEmpty()) {
            return true;
        }
        Set<String> names = new LinkedHashSet<>();
        add(names, leaf.description.getAnnotations());
        addOf(names, root);
        if (!leaf.type().equals(root.getName())) {
            try {
                addOf(names, Class.forName(leaf.type(), false, root.getClassLoader()));
            } catch (ClassNotFoundException | LinkageError none) {
                // Not every runner calls its tests after a class.
            }
        }
        return Groups.want(settings, names);
    }

    private static void addOf(Set<String> names, Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            add(names, java.util.Arrays.asList(each.getDeclaredAnnotations()));
        }
    }

    private static void add(Set<String> names, Iterable<Annotation> annotations) {
        for (Annotation annotation : annotations) {
            if (annotation.annotationType().getName().equals(CATEGORY)) {
                for (Class<?> category : categories(annotation)) {
                    addWithParents(names, category);
                }
            }
        }
    }

    private static Class<?>[] categories(Annotation annotation) {
        try {
            return (Class<?>[]) annotation.annotationType().getMethod("value").invoke(annotation);
        } catch (ReflectiveOperationException unknown) {
            return new Class<?>[0];
        }
    }

    private static void addWithParents(Set<String> names, Class<?> category) {
        if (category != null && category != Object.class) {
            names.add(category.getName());
            addWithParents(names, category.getSuperclass());
            for (Class<?> parent : category.getInterfaces()) {
                addWithParents(names, parent);
            }
        }
    }
}
