package flakeproof.agent.platform;

import flakeproof.agent.Settings;
import flakeproof.agent.Suite;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Finds the tests of classes, with each invocation of those that are invoked more than once. */
final class Search {
    private final Settings settings;
    private final Requests requests;
    private final Suite suite;

    Search(Settings settings, Requests requests, Suite suite) {
        this.settings = settings;
        this.requests = requests;
        this.suite = suite;
    }

    void collect(Launcher launcher) {
        TestPlan plan = plan(launcher);
        if (plan == null) {
            return;
        }
        List<Found> found = new ArrayList<>();
        for (TestIdentifier root : plan.getRoots()) {
            find(plan, root, found, true);
        }
        found.removeIf(each -> !settings.selection.wants(each.name.type, each.name.method));
        Set<String> templates = new LinkedHashSet<>();
        for (Found each : found) {
            if (each.name.isTemplate) {
                templates.add(each.uniqueId);
            }
        }
        Expansion expansion = new Expansion(requests, settings);
        if (!templates.isEmpty()) {
            expansion.expand(launcher, templates);
        }
        for (Found each : found) {
            for (Found test : expansion.of(each)) {
                suite.add(test.name.id(), test.uniqueId);
            }
        }
    }

    /** The plan for all classes that can be searched; the others become problems. */
    private TestPlan plan(Launcher launcher) {
        List<Class<?>> classes = new ArrayList<>();
        for (String name : settings.classes) {
            Class<?> type = suite.load(name);
            if (type != null) {
                classes.add(type);
            }
        }
        try {
            return launcher.discover(requests.ofClasses(classes));
        } catch (RuntimeException | LinkageError broken) {
            classes.removeIf(type -> isBroken(launcher, type));
        }
        try {
            return launcher.discover(requests.ofClasses(classes));
        } catch (RuntimeException | LinkageError broken) {
            suite.problem("", broken);
            return null;
        }
    }

    private boolean isBroken(Launcher launcher, Class<?> type) {
        try {
            launcher.discover(requests.ofClasses(Collections.singleton(type)));
            return false;
        } catch (RuntimeException | LinkageError broken) {
            suite.problem(type.getName(), broken);
            return true;
        }
    }

    /**
     * Adds the tests below an identifier, in the order in which they would run.
     *
     * <p>Engines other than Jupiter may keep the tests of a container for themselves until it
     * runs: then the container stands for them, and is run as a whole.
     */
    private static void find(
            TestPlan plan, TestIdentifier here, List<Found> found, boolean isRoot) {
        Name name = Name.of(plan, here);
        boolean isLeaf = plan.getChildren(here).isEmpty();
        boolean isClosed = !isRoot && isLeaf && !name.isJupiter;
        if (here.isTest() || name.isTemplate || isClosed) {
            found.add(new Found(here.getUniqueId(), name));
        }
        if (!name.isTemplate) {
            plan.getChildren(here).forEach(child -> find(plan, child, found, false));
        }
    }

    /** A test, or a template of tests, that was found. */
    static final class Found {
        final String uniqueId;
        final Name name;

        Found(String uniqueId, Name name) {
            this.uniqueId = uniqueId;
            this.name = name;
        }
    }
}
