package flakeproof.agent.testng;

import flakeproof.agent.Execution;
import flakeproof.agent.Phase;
import flakeproof.agent.Report;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.testng.IConfigurationListener;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestNGMethod;
import org.testng.ITestResult;
import org.testng.SkipException;

/**
 * From TestNG's events to the outcome of each test.
 *
 * <p>It also guards the order: a test that would run before its turn, or was not asked for, is
 * skipped before its body runs.
 */
final class Listener
        implements IInvokedMethodListener, IConfigurationListener, ITestListener {
    private final List<Execution> piece;
    private final Dependencies dependencies;
    private final Report report;
    private final Map<ITestResult, Execution> running = new IdentityHashMap<>();
    private final Map<String, Integer> invocations = new HashMap<>();
    private final Map<String, Object[]> parameters = new HashMap<>();
    private final Set<String> notPassed = new HashSet<>();
    private final List<Execution> displaced = new ArrayList<>();
    private final Set<ITestResult> guarded =
            Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<ITestResult> told = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    /** What kept the set-up from succeeding. */
    private Throwable brokenSetUp;

    Listener(List<Execution> piece, Dependencies dependencies, Report report) {
        this.piece = piece;
        this.dependencies = dependencies;
        this.report = report;
    }

    /** Tests that were kept from running before their turn. */
    synchronized List<Execution> displaced() {
        List<Execution> waiting = new ArrayList<>(displaced);
        waiting.removeIf(Execution::hasEnded);
        return waiting;
    }

    @Override
    public synchronized void beforeInvocation(IInvokedMethod invoked, ITestResult result) {
        if (invoked.isTestMethod()) {
            // TestNG tells also of tests that it skips, and 6.8 tells everything twice.
            if (result.getStatus() != ITestResult.SKIP && told.add(result)) {
                beginTest(result);
            }
        } else if (!isAfter(invoked.getTestMethod())) {
            Execution next = firstWaiting();
            if (next != null) {
                report.expects(next);
            }
        }
    }

    @Override
    public synchronized void afterInvocation(IInvokedMethod invoked, ITestResult result) {
        if (!invoked.isTestMethod() && result.getStatus() != ITestResult.SUCCESS) {
            onConfigurationFailure(result);
        }
    }

    @Override
    public void onConfigurationSuccess(ITestResult result) {}

    @Override
    public synchronized void onConfigurationFailure(ITestResult result) {
        Throwable cause = result.getThrowable();
        if (cause == null || !seen.add(cause)) {
            return;
        }
        if (isAfter(result.getMethod())) {
            report.tearDownFailed(cause);
        }
        brokenSetUp = cause;
    }

    @Override
    public synchronized void onConfigurationSkip(ITestResult result) {
        onConfigurationFailure(result);
    }

    private void beginTest(ITestResult result) {
        Execution execution = invoked(result);
        Execution next = firstWaiting();
        boolean isInTurn = execution != null && (execution == next || execution.hasStarted());
        if (!isInTurn) {
            guarded.add(result);
            if (execution != null) {
                displaced.add(execution);
            }
            throw new SkipException("not its turn");
        }
        running.put(result, execution);
        if (!execution.hasEnded()) {
            execution.calledWith(Rows.written(result.getParameters()));
            report.begins(execution);
        }
        String lacking = dependencies.lacking(result.getMethod().getMethodName(), notPassed);
        if (lacking != null) {
            throw new SkipException("depends on " + lacking + ", which did not pass");
        }
    }

    @Override
    public synchronized void onTestSuccess(ITestResult result) {
        Execution execution = running.get(result);
        if (execution != null) {
            notPassed.remove(result.getMethod().getMethodName());
            report.passed(execution);
        }
    }

    @Override
    public synchronized void onTestFailedButWithinSuccessPercentage(ITestResult result) {
        onTestSuccess(result);
    }

    @Override
    public synchronized void onTestFailure(ITestResult result) {
        for (Execution execution : concerned(result)) {
            notPassed.add(result.getMethod().getMethodName());
            Throwable cause = result.getThrowable();
            Phase phase = execution.hasStarted() ? Phase.CALL : Phase.SETUP;
            Throwable known = cause == null ? new AssertionError("failed") : cause;
            report.failed(execution, phase, known);
        }
    }

    @Override
    public synchronized void onTestSkipped(ITestResult result) {
        Throwable cause = result.getThrowable();
        boolean isOwn = cause instanceof SkipException && cause != brokenSetUp;
        boolean isBroken = brokenSetUp != null && !(brokenSetUp instanceof SkipException);
        for (Execution execution : concerned(result)) {
            notPassed.add(result.getMethod().getMethodName());
            if (isBroken && !isOwn) {
                report.failed(execution, Phase.SETUP, brokenSetUp);
            } else {
                Throwable reason = cause == null ? brokenSetUp : cause;
                report.skipped(execution, reason == null ? null : reason.getMessage());
            }
        }
    }

    @Override
    public void onTestStart(ITestResult result) {}

    @Override
    public void onStart(ITestContext context) {}

    @Override
    public void onFinish(ITestContext context) {}

    /** The execution that a result is of; without an invocation, all that wait of its method. */
    private List<Execution> concerned(ITestResult result) {
        if (guarded.contains(result)) {
            return Collections.emptyList();
        }
        Execution execution = running.get(result);
        if (execution != null) {
            return Collections.singletonList(execution);
        }
        List<Execution> waiting = ofMethod(result);
        waiting.removeIf(each -> each.hasStarted() || each.hasEnded());
        return waiting;
    }

    /** The execution whose turn an invocation is: rows come in the order of their numbers. */
    private Execution invoked(ITestResult result) {
        List<Execution> candidates = ofMethod(result);
        if (candidates.isEmpty()) {
            return null;
        }
        boolean isWhole = Handle.parse(candidates.get(0).test.handle).row == Handle.WHOLE;
        if (isWhole) {
            return candidates.get(0);
        }
        String name = result.getMethod().getMethodName();
        int before = invocations.getOrDefault(name, -1);
        boolean isRetry = before >= 0 && Rows.isRetry(result, parameters.get(name));
        int count = isRetry ? before : before + 1;
        invocations.put(name, count);
        parameters.put(name, result.getParameters());
        return count < candidates.size() ? candidates.get(count) : null;
    }

    private List<Execution> ofMethod(ITestResult result) {
        String type = RealClass.of(result.getMethod()).getName();
        List<Execution> executions = new ArrayList<>();
        for (Execution execution : piece) {
            Handle handle = Handle.parse(execution.test.handle);
            boolean isMethod = handle.method.equals(result.getMethod().getMethodName());
            if (isMethod && handle.type.equals(type)) {
                executions.add(execution);
            }
        }
        return executions;
    }

    private Execution firstWaiting() {
        for (Execution execution : piece) {
            if (!execution.hasStarted() && !execution.hasEnded()) {
                return execution;
            }
        }
        return null;
    }

    private static boolean isAfter(ITestNGMethod method) {
        return method.isAfterMethodConfiguration()
                || method.isAfterClassConfiguration()
                || method.isAfterGroupsConfiguration()
                || method.isAfterTestConfiguration()
                || method.isAfterSuiteConfiguration();
    }
}
