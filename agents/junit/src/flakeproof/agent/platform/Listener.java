package flakeproof.agent.platform;

import flakeproof.agent.Execution;
import flakeproof.agent.Report;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * From the launcher's events to the outcome of each test.
 *
 * <p>An event is about a wanted test, about something below one (which then is a container that
 * runs as a whole), or about something above: a class, whose set-up or teardown failed.
 */
final class Listener implements TestExecutionListener {
    private final Map<String, Execution> executions = new LinkedHashMap<>();
    private final Report report;

    Listener(List<Execution> group, Report report) {
        this.report = report;
        group.forEach(execution -> executions.put(execution.test.handle, execution));
    }

    @Override
    public void executionStarted(TestIdentifier identifier) {
        Execution execution = executions.get(identifier.getUniqueId());
        if (execution != null) {
            execution.calledWith(Name.withoutNumber(identifier));
            report.begins(execution);
            return;
        }
        List<Execution> waiting = waiting(identifier);
        if (!waiting.isEmpty()) {
            report.expects(waiting.get(0));
        }
    }

    @Override
    public void executionSkipped(TestIdentifier identifier, String reason) {
        Execution execution = wantedAt(identifier);
        if (execution != null) {
            report.skipped(execution, reason);
        } else {
            waiting(identifier).forEach(each -> report.skipped(each, reason));
        }
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        Throwable cause = result.getThrowable().orElse(null);
        Execution execution = wantedAt(identifier);
        if (execution != null) {
            finished(execution, identifier, result.getStatus(), cause);
        } else if (result.getStatus() == TestExecutionResult.Status.FAILED) {
            sharedFailed(identifier, cause);
        } else if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            waiting(identifier).forEach(each -> report.skipped(each, message(cause)));
        }
    }

    private void finished(
            Execution execution,
            TestIdentifier identifier,
            TestExecutionResult.Status status,
            Throwable cause) {
        boolean isWhole = identifier.getUniqueId().equals(execution.test.handle);
        switch (status) {
            case FAILED:
                report.failed(execution, Phases.of(identifier, execution.hasEnded(), cause), cause);
                break;
            case ABORTED:
                report.skipped(execution, message(cause));
                break;
            default:
                // A container that succeeds says nothing about the tests in it.
                if (identifier.isTest() || (isWhole && !execution.hasEnded())) {
                    report.passed(execution);
                }
        }
    }

    /** A class failed: before its tests, or after them. */
    private void sharedFailed(TestIdentifier identifier, Throwable cause) {
        List<Execution> waiting = waiting(identifier);
        boolean isTornDown = waiting.size() < below(identifier).size();
        if (isTornDown) {
            report.tearDownFailed(cause);
        }
        report.setUpFailed(waiting, cause);
    }

    /** The wanted test that this is, or is a part of. */
    private Execution wantedAt(TestIdentifier identifier) {
        String uniqueId = identifier.getUniqueId();
        Execution execution = executions.get(uniqueId);
        if (execution != null) {
            return execution;
        }
        for (Map.Entry<String, Execution> each : executions.entrySet()) {
            if (uniqueId.startsWith(each.getKey() + "/")) {
                return each.getValue();
            }
        }
        return null;
    }

    private List<Execution> below(TestIdentifier identifier) {
        List<Execution> below = new ArrayList<>();
        executions.forEach(
                (handle, execution) -> {
                    if (handle.startsWith(identifier.getUniqueId() + "/")) {
                        below.add(execution);
                    }
                });
        return below;
    }

    private List<Execution> waiting(TestIdentifier identifier) {
        List<Execution> waiting = below(identifier);
        waiting.removeIf(execution -> execution.hasStarted() || execution.hasEnded());
        return waiting;
    }

    private static String message(Throwable cause) {
        return cause == null ? null : cause.getMessage();
    }
}
