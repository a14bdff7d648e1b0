package flakeproof.agent.testng;

import flakeproof.agent.Execution;
import flakeproof.agent.Settings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.testng.ITestNGListener;
import org.testng.TestNG;
import org.testng.xml.XmlClass;
import org.testng.xml.XmlInclude;
import org.testng.xml.XmlSuite;
import org.testng.xml.XmlTest;

/** Builds TestNG's suites in memory. */
final class Suites {
    private Suites() {}

    /** A run of whole classes. */
    static TestNG of(Settings settings, Collection<Class<?>> classes, ITestNGListener listener) {
        List<XmlClass> entries = new ArrayList<>();
        classes.forEach(type -> entries.add(new XmlClass(type)));
        return of(settings, entries, listener);
    }

    /** A run of these tests; only with an {@link Order} it is in this order, and of no others. */
    static TestNG of(Settings settings, List<Execution> piece, Listener listener) {
        Map<String, List<Integer>> rows = new LinkedHashMap<>();
        Set<String> surroundings = new LinkedHashSet<>();
        Handle first = Handle.parse(piece.get(0).test.handle);
        for (Execution execution : piece) {
            Handle handle = Handle.parse(execution.test.handle);
            rows.computeIfAbsent(handle.method, method -> new ArrayList<>());
            if (handle.row != Handle.WHOLE) {
                rows.get(handle.method).add(handle.row);
            }
            surroundings.addAll(handle.surroundings);
        }
        List<XmlInclude> includes = new ArrayList<>();
        rows.forEach((method, each) -> includes.add(new XmlInclude(method, each, includes.size())));
        XmlClass entry = new XmlClass(loaded(first.root));
        if (first.root.equals(first.type)) {
            entry.setIncludedMethods(includes);
        }
        List<XmlClass> entries = new ArrayList<>();
        entries.add(entry);
        surroundings.forEach(name -> entries.add(new XmlClass(loaded(name))));
        return of(settings, entries, listener);
    }

    private static TestNG of(
            Settings settings, List<XmlClass> entries, ITestNGListener listener) {
        XmlSuite suite = new XmlSuite();
        suite.setName("flakeproof");
        suite.setParameters(new LinkedHashMap<>(settings.parameters));
        XmlTest test = new XmlTest(suite);
        test.setName("flakeproof");
        test.setXmlClasses(entries);
        for (int i = 0; i < entries.size(); i++) {
            entries.get(i).setIndex(i);
        }
        TestNG testng = new TestNG(false);
        testng.setVerbose(0);
        testng.setDataProviderThreadCount(1);
        testng.setXmlSuites(Collections.singletonList(suite));
        testng.addListener(listener);
        return testng;
    }

    private static Class<?> loaded(String name) {
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            return Class.forName(name, false, loader);
        } catch (ClassNotFoundException gone) {
            throw new NoClassDefFoundError(name);
        }
    }
}
