package flakeproof.agent.testng;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.testng.IConfigurable;
import org.testng.IConfigureCallBack;
import org.testng.IHookCallBack;
import org.testng.IHookable;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestContext;
import org.testng.ITestListener;
import org.testng.ITestNGMethod;
import org.testng.ITestResult;
import org.testng.SkipException;

/**
 * Keeps all tests and all set-up from being run, and notes which would have been.
 *
 * <p>Only what is set up once for a class, or around classes, does run, where the class has data
 * providers: they may need it.
 */
final class SilentRun implements IHookable, IConfigurable, IInvokedMethodListener, ITestListener {
    private final Set<ITestResult> told = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<String, Found> found = new LinkedHashMap<>();
    /** What is set up around classes: the class that declares it, and one that has it. */
    private final Map<Class<?>, Class<?>> surrounding = new LinkedHashMap<>();

    /** A test method. */
    static final class Found {
        final Class<?> realClass;
        final String type;
        final String method;
        final List<String> groups;
        final boolean hasRows;
        int invocations;

        Found(ITestNGMethod of) {
            realClass = RealClass.of(of);
            type = realClass.getName();
            method = of.getMethodName();
            groups = Arrays.asList(of.getGroups());
            hasRows = Rows.has(of);
        }
    }

    List<Found> found() {
        return new ArrayList<>(found.values());
    }

    /** The classes that set up something around all classes which this one does not inherit. */
    List<String> surroundings(Found test) {
        List<String> names = new ArrayList<>();
        surrounding.forEach(
                (declaring, real) -> {
                    if (!declaring.isAssignableFrom(test.realClass)) {
                        names.add(real.getName());
                    }
                });
        return names;
    }

    @Override
    public void run(IHookCallBack test, ITestResult result) {}

    @Override
    public void run(IConfigureCallBack configuration, ITestResult result) {
        ITestNGMethod method = result.getMethod();
        boolean isOnce =
                method.isBeforeSuiteConfiguration()
                        || method.isBeforeTestConfiguration()
                        || method.isBeforeGroupsConfiguration()
                        || method.isBeforeClassConfiguration();
        if (isOnce && Rows.hasAny(RealClass.of(method))) {
            configuration.runConfigurationMethod(result);
        }
    }

    @Override
    public synchronized void beforeInvocation(IInvokedMethod invoked, ITestResult result) {
        ITestNGMethod method = invoked.getTestMethod();
        if (!invoked.isTestMethod()) {
            note(method);
            return;
        }
        // TestNG 6.8 tells everything twice.
        found(method).invocations += told.add(result) ? 1 : 0;
        if (IHookable.class.isAssignableFrom(RealClass.of(method))) {
            // It runs its tests itself, and would not be kept from it by this listener.
            throw new SkipException("only counted");
        }
    }

    /** Notes what is set up, or torn down, around classes that do not inherit it. */
    private void note(ITestNGMethod method) {
        boolean isAround =
                method.isBeforeSuiteConfiguration()
                        || method.isAfterSuiteConfiguration()
                        || method.isBeforeTestConfiguration()
                        || method.isAfterTestConfiguration();
        if (isAround) {
            Class<?> declaring = method.getConstructorOrMethod().getMethod().getDeclaringClass();
            surrounding.putIfAbsent(declaring, RealClass.of(method));
        }
    }

    @Override
    public void afterInvocation(IInvokedMethod invoked, ITestResult result) {}

    @Override
    public void onTestSuccess(ITestResult result) {
        found(result.getMethod());
    }

    @Override
    public void onTestFailure(ITestResult result) {
        found(result.getMethod());
    }

    @Override
    public void onTestSkipped(ITestResult result) {
        found(result.getMethod());
    }

    @Override
    public void onTestFailedButWithinSuccessPercentage(ITestResult result) {
        found(result.getMethod());
    }

    @Override
    public void onTestStart(ITestResult result) {}

    @Override
    public void onStart(ITestContext context) {}

    @Override
    public void onFinish(ITestContext context) {}

    private synchronized Found found(ITestNGMethod method) {
        String key = RealClass.of(method).getName() + "#" + method.getMethodName();
        return found.computeIfAbsent(key, each -> new Found(method));
    }
}
