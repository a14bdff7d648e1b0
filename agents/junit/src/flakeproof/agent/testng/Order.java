package flakeproof.agent.testng;

import flakeproof.agent.Execution;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.testng.IAnnotationTransformer;
import org.testng.IMethodInstance;
import org.testng.IMethodInterceptor;
import org.testng.ITestContext;
import org.testng.ITestNGListener;
import org.testng.ITestNGMethod;
import org.testng.TestNG;
import org.testng.annotations.IDataProviderAnnotation;
import org.testng.annotations.ITestAnnotation;

/**
 * Makes TestNG run the wanted methods in the wanted order, and switches off all others.
 *
 * <p>Priorities become places in that order. TestNG has no say in dependencies any more, because it
 * would change the order for them or refuse to run a test alone; {@link Dependencies} has.
 */
final class Order implements IMethodInterceptor {
    /** Sees data providers too; the newest versions have it in the plain transformer. */
    private static final String SECOND = "org.testng.IAnnotationTransformer2";

    private final Map<String, Integer> places = new LinkedHashMap<>();
    private final Map<String, List<Integer>> rows = new HashMap<>();
    private final String type;
    private final Dependencies dependencies;

    Order(List<Execution> piece) {
        for (Execution execution : piece) {
            Handle handle = Handle.parse(execution.test.handle);
            places.putIfAbsent(handle.method, places.size());
            if (handle.row != Handle.WHOLE) {
                rows.computeIfAbsent(handle.method, method -> new ArrayList<>()).add(handle.row);
            }
        }
        type = Handle.parse(piece.get(0).test.handle).type;
        dependencies = new Dependencies(type, places);
    }

    Dependencies dependencies() {
        return dependencies;
    }

    void applyTo(TestNG testng) {
        ITestNGListener interceptor = this;
        testng.addListener(interceptor);
        testng.addListener(transformer());
    }

    @Override
    public List<IMethodInstance> intercept(List<IMethodInstance> methods, ITestContext context) {
        List<IMethodInstance> wanted = new ArrayList<>(methods);
        wanted.removeIf(each -> place(each) == null);
        wanted.sort(Comparator.comparing(this::place));
        for (IMethodInstance each : wanted) {
            ITestNGMethod method = each.getMethod();
            method.setPriority(place(each));
            // Older versions forget the rows of an inherited method.
            List<Integer> wantedRows = rows.get(method.getMethodName());
            if (wantedRows != null) {
                method.setInvocationNumbers(wantedRows);
            }
        }
        return wanted;
    }

    private Integer place(IMethodInstance instance) {
        ITestNGMethod method = instance.getMethod();
        boolean isHere = RealClass.of(method).getName().equals(type);
        return isHere ? places.get(method.getMethodName()) : null;
    }

    /** A transformer of whichever kind this TestNG has. */
    private ITestNGListener transformer() {
        Class<?> kind = IAnnotationTransformer.class;
        try {
            kind = Class.forName(SECOND, false, kind.getClassLoader());
        } catch (ClassNotFoundException newest) {
            // Then the plain one sees everything.
        }
        return (ITestNGListener) Proxy.newProxyInstance(
                Order.class.getClassLoader(),
                new Class<?>[] {kind},
                (proxy, called, arguments) -> {
                    if (called.getDeclaringClass() == Object.class) {
                        return called.invoke(this, arguments);
                    }
                    if (called.getName().equals("transform")) {
                        transform(arguments);
                    }
                    // Newer listeners are asked whether they are enabled.
                    return called.getReturnType() == boolean.class ? true : null;
                });
    }

    private void transform(Object[] arguments) {
        if (arguments[0] instanceof IDataProviderAnnotation) {
            ((IDataProviderAnnotation) arguments[0]).setParallel(false);
        } else if (arguments[0] instanceof ITestAnnotation) {
            transform((ITestAnnotation) arguments[0], (Method) arguments[3]);
        }
    }

    private void transform(ITestAnnotation annotation, Method method) {
        if (method != null) {
            Integer place = places.get(method.getName());
            if (place == null || !dependencies.isOfType(method.getDeclaringClass())) {
                annotation.setEnabled(false);
                return;
            }
            annotation.setPriority(place);
            if (!annotation.getAlwaysRun()) {
                String[] groups = annotation.getDependsOnGroups();
                dependencies.note(method.getName(), annotation.getDependsOnMethods(), groups);
            }
        }
        annotation.setDependsOnMethods(new String[0]);
        annotation.setDependsOnGroups(new String[0]);
    }
}
