package flakeproof.agent.junit4;

import flakeproof.agent.Execution;
import flakeproof.agent.Report;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.Ignore;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** From JUnit 4's notifications to the outcome of each test. */
final class Listener extends RunListener {
    private final Report report;
    /** The executions by the name that JUnit calls them, in the order in which they come. */
    private final Map<String, List<Execution>> executions = new LinkedHashMap<>();
    private final Map<String, Execution> running = new HashMap<>();
    private boolean hasStarted;

    Listener(List<Execution> group, Report report) {
        this.report = report;
        Choice.Ranks ranks = new Choice.Ranks(group);
        List<Execution> ranked = new ArrayList<>(group);
        ranked.sort(Comparator.comparingInt(ranks::of));
        for (Execution execution : ranked) {
            String name = Leaf.of(execution.test.handle).name;
            executions.computeIfAbsent(name, each -> new ArrayList<>()).add(execution);
        }
    }

    @Override
    public void testStarted(Description description) {
        hasStarted = true;
        String name = description.getDisplayName();
        Execution execution = next(name);
        if (execution != null) {
            running.put(name, execution);
            report.begins(execution);
        } else if (!isFault(name)) {
            report.remark(name + " ran as well, because its runner cannot be filtered");
        }
    }

    @Override
    public void testFinished(Description description) {
        Execution execution = running.remove(description.getDisplayName());
        if (execution != null && !execution.hasEnded()) {
            report.passed(execution);
        }
    }

    @Override
    public void testFailure(Failure failure) {
        String name = failure.getDescription().getDisplayName();
        Throwable cause = failure.getException();
        Execution execution = running.containsKey(name) ? running.get(name) : next(name);
        if (execution != null) {
            report.failed(execution, Phases.of(cause), cause);
            return;
        }
        if (executions.containsKey(name)) {
            report.tearDownFailed(cause);
            return;
        }
        List<Execution> below = below(failure.getDescription());
        List<Execution> waiting = waiting(below);
        if (waiting.size() == below.size() && (!hasStarted || isShared(failure) || isFault(name))) {
            report.setUpFailed(waiting, cause);
        } else if (isShared(failure)) {
            report.tearDownFailed(cause);
        }
    }

    /** Without an annotation: JUnit 4.4 does not know it. */
    public void testAssumptionFailure(Failure failure) {
        Description description = failure.getDescription();
        String name = description.getDisplayName();
        String why = failure.getException().getMessage();
        Execution execution = running.containsKey(name) ? running.get(name) : next(name);
        if (execution != null) {
            report.skipped(execution, why);
        } else if (isShared(failure)) {
            waiting(below(description)).forEach(each -> report.skipped(each, why));
        }
    }

    @Override
    public void testIgnored(Description description) {
        Ignore ignore = description.getAnnotation(Ignore.class);
        String why = ignore == null ? "" : ignore.value();
        Execution execution = next(description.getDisplayName());
        if (execution != null) {
            report.skipped(execution, why);
        } else if (!isMethod(description.getDisplayName())) {
            waiting(below(description)).forEach(each -> report.skipped(each, why));
        }
    }

    /** The first execution of this name that waits to run; null if there is none. */
    private Execution next(String name) {
        for (Execution execution : executions.getOrDefault(name, new ArrayList<>())) {
            if (!execution.hasStarted() && !execution.hasEnded()) {
                return execution;
            }
        }
        return null;
    }

    /** The executions of what is described; all if the description has no tests. */
    private List<Execution> below(Description description) {
        Set<String> names = new HashSet<>();
        for (Leaf leaf : Leaf.all("", description)) {
            names.add(leaf.name);
        }
        List<Execution> below = new ArrayList<>();
        List<Execution> all = new ArrayList<>();
        executions.forEach(
                (name, each) -> {
                    all.addAll(each);
                    below.addAll(names.contains(name) ? each : new ArrayList<>());
                });
        return below.isEmpty() ? all : below;
    }

    private static List<Execution> waiting(List<Execution> from) {
        List<Execution> waiting = new ArrayList<>(from);
        waiting.removeIf(execution -> execution.hasStarted() || execution.hasEnded());
        return waiting;
    }

    /** Whether a failure is not one method's own, but of what methods share. */
    private static boolean isShared(Failure failure) {
        Description description = failure.getDescription();
        return !description.isTest() || !isMethod(description.getDisplayName());
    }

    private static boolean isMethod(String name) {
        return name.endsWith(")");
    }

    /** Whether this is no test, but JUnit's way to say that a class cannot be run. */
    private static boolean isFault(String name) {
        return name.startsWith("initializationError");
    }
}
