package flakeproof.agent.testng;

import flakeproof.agent.Groups;
import flakeproof.agent.Settings;
import flakeproof.agent.Suite;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.testng.annotations.Factory;
import org.testng.annotations.Test;

/**
 * Finds the tests of classes by a run in which nothing runs.
 *
 * <p>That is the only way to learn TestNG's order and the rows of data providers.
 */
final class Search {
    private final Settings settings;
    private final Suite suite;

    Search(Settings settings, Suite suite) {
        this.settings = settings;
        this.suite = suite;
    }

    void collect() {
        List<Class<?>> plain = new ArrayList<>();
        List<Class<?>> factories = new ArrayList<>();
        for (String name : settings.classes) {
            Class<?> type = suite.load(name);
            try {
                if (type != null && isTest(type)) {
                    (hasFactory(type) ? factories : plain).add(type);
                }
            } catch (LinkageError broken) {
                suite.problem(name, broken);
            }
        }
        collect(plain);
        // One at a time: the class with the factory is needed to run what it makes.
        factories.forEach(type -> collect(Collections.singletonList(type)));
    }

    /** Collects classes together or, if that fails, each alone to learn which is broken. */
    private void collect(List<Class<?>> classes) {
        if (classes.isEmpty()) {
            return;
        }
        try {
            SilentRun run = new SilentRun();
            Suites.of(settings, classes, run).run();
            String root = classes.size() == 1 ? classes.get(0).getName() : null;
            add(run, root);
        } catch (RuntimeException | LinkageError broken) {
            if (classes.size() == 1) {
                suite.problem(classes.get(0).getName(), broken);
            } else {
                classes.forEach(type -> collect(Collections.singletonList(type)));
            }
        }
    }

    private void add(SilentRun run, String root) {
        for (SilentRun.Found found : run.found()) {
            boolean isWanted = settings.selection.wants(found.type, found.method);
            if (!isWanted || !Groups.want(settings, found.groups)) {
                continue;
            }
            String start = root == null ? found.type : root;
            int rows = found.hasRows ? found.invocations : 0;
            if (rows == 0) {
                add(start, found, Handle.WHOLE, run);
            }
            for (int row = 0; row < rows; row++) {
                add(start, found, row, run);
            }
        }
    }

    private void add(String root, SilentRun.Found found, int row, SilentRun run) {
        Handle handle =
                new Handle(root, found.type, found.method, row, run.surroundings(found));
        suite.add(handle.id(), handle.toString());
    }

    private static boolean isTest(Class<?> type) {
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            return false;
        }
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            if (each.isAnnotationPresent(Test.class) || Arrays.stream(each.getDeclaredMethods())
                    .anyMatch(method -> method.isAnnotationPresent(Test.class))) {
                return true;
            }
        }
        return hasFactory(type);
    }

    private static boolean hasFactory(Class<?> type) {
        for (Method method : type.getMethods()) {
            if (method.isAnnotationPresent(Factory.class)) {
                return true;
            }
        }
        return false;
    }
}
