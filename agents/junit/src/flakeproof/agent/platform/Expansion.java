package flakeproof.agent.platform;

import flakeproof.agent.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Learns the invocations of templates and factories by running them with silent tests.
 *
 * <p>Two extensions of flakeproof, which exist for Jupiter only while this runs, keep all test
 * bodies from being run. A template that fails before or after its invocations stays one test, so
 * that its failure is not lost.
 */
final class Expansion implements TestExecutionListener {
    static final String AUTODETECTION = "junit.jupiter.extensions.autodetection.enabled";

    private static final String CONDITION = "flakeproof.agent.jupiter.NoTestRuns";
    private static final String[] INTERCEPTORS = {
        "flakeproof.agent.dynamic58.NoDynamicTestRuns",
        "flakeproof.agent.dynamic56.NoDynamicTestRuns",
    };

    private final Requests requests;
    private final Settings settings;
    private final Map<String, List<Search.Found>> tests = new HashMap<>();
    private final Set<String> complete = new HashSet<>();
    private TestPlan plan;

    Expansion(Requests requests, Settings settings) {
        this.requests = requests;
        this.settings = settings;
    }

    /** Learns the invocations of these templates. */
    void expand(Launcher launcher, Set<String> templates) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        List<String> extensions = extensions(before);
        Set<String> silent = new LinkedHashSet<>(templates);
        if (extensions.size() < 2) {
            // Dynamic tests cannot be silenced: a factory stays one test.
            silent.removeIf(template -> template.contains("[test-factory:"));
        }
        if (extensions.isEmpty() || silent.isEmpty()) {
            return;
        }
        silent.forEach(template -> tests.put(template, new ArrayList<>()));
        boolean isOn = "true".equalsIgnoreCase(setting());
        try {
            thread.setContextClassLoader(new ExtensionLoader(before, extensions, isOn));
            launcher.execute(requests.toExpand(silent), this);
        } catch (RuntimeException | LinkageError broken) {
            complete.clear();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** The extensions that keep tests from being run; without the first there are none. */
    private static List<String> extensions(ClassLoader loader) {
        List<String> extensions = new ArrayList<>();
        if (isThere(CONDITION, loader)) {
            extensions.add(CONDITION);
            for (String interceptor : INTERCEPTORS) {
                if (extensions.size() == 1 && isThere(interceptor, loader)) {
                    extensions.add(interceptor);
                }
            }
        }
        return extensions;
    }

    /** The tests that stand for what was found. */
    List<Search.Found> of(Search.Found found) {
        boolean isExpanded = complete.contains(found.uniqueId);
        return isExpanded ? tests.get(found.uniqueId) : Collections.singletonList(found);
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public void dynamicTestRegistered(TestIdentifier identifier) {
        String uniqueId = identifier.getUniqueId();
        for (Map.Entry<String, List<Search.Found>> each : tests.entrySet()) {
            if (identifier.isTest() && uniqueId.startsWith(each.getKey() + "/")) {
                Name name = Name.of(plan, identifier);
                each.getValue().add(new Search.Found(uniqueId, name));
            }
        }
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        boolean isSuccess = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (isSuccess && tests.containsKey(identifier.getUniqueId())) {
            complete.add(identifier.getUniqueId());
        }
    }

    /** What the project says about extensions that are found by themselves. */
    private String setting() {
        String given = settings.parameters.get(AUTODETECTION);
        if (given != null) {
            return given;
        }
        String property = System.getProperty(AUTODETECTION);
        return property != null ? property : PlatformProperties.get(AUTODETECTION);
    }

    private static boolean isThere(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader);
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }
}
