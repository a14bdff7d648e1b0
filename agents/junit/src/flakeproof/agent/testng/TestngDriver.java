package flakeproof.agent.testng;

import flakeproof.agent.Driver;
import flakeproof.agent.Execution;
import flakeproof.agent.Pieces;
import flakeproof.agent.Report;
import flakeproof.agent.Settings;
import flakeproof.agent.Suite;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.testng.TestNG;

/**
 * TestNG: a suite is made in memory for each group of tests.
 *
 * <p>So what is set up for a suite or a test (in TestNG's sense) is set up for each group. Needs
 * TestNG 6.8 or newer.
 */
public final class TestngDriver implements Driver {
    private final Settings settings;

    /** A driver for a suite. */
    public TestngDriver(Settings settings) {
        this.settings = settings;
    }

    @Override
    public String describe() {
        String version = TestNG.class.getPackage().getImplementationVersion();
        CodeSource source = TestNG.class.getProtectionDomain().getCodeSource();
        if (version == null && source != null) {
            Matcher jar = Pattern.compile("testng-(.+)\\.jar").matcher(source.toString());
            version = jar.find() ? jar.group(1) : null;
        }
        return ("TestNG " + (version == null ? "" : version)).trim();
    }

    @Override
    public boolean owns(String handle) {
        return handle.startsWith(Handle.PREFIX);
    }

    @Override
    public String group(String handle) {
        return Handle.PREFIX + Handle.parse(handle).root;
    }

    @Override
    public void collect(Suite suite) {
        new Search(settings, suite).collect();
    }

    @Override
    public void run(List<Execution> group, Report report) {
        Map<String, Integer> places = new HashMap<>();
        for (Execution execution : group) {
            places.putIfAbsent(Handle.parse(execution.test.handle).method, places.size());
        }
        List<List<Execution>> pieces =
                Pieces.rising(
                        group,
                        execution -> {
                            Handle handle = Handle.parse(execution.test.handle);
                            return Arrays.asList(places.get(handle.method), handle.row);
                        });
        for (List<Execution> piece : pieces) {
            runPiece(piece, report);
        }
    }

    /** Runs methods in this order, and each method's rows in the order of its data provider. */
    private void runPiece(List<Execution> piece, Report report) {
        List<Execution> displaced = runOnce(piece, report);
        for (Execution execution : displaced) {
            // TestNG had an order of its own, which it was kept from following.
            runOnce(Collections.singletonList(execution), report);
        }
        report.settle(piece);
    }

    /** Gives tests to TestNG; those that were kept from running out of order come back. */
    private List<Execution> runOnce(List<Execution> piece, Report report) {
        Order order = new Order(piece);
        Listener listener = new Listener(piece, order.dependencies(), report);
        TestNG testng = Suites.of(settings, piece, listener);
        order.applyTo(testng);
        testng.run();
        return listener.displaced();
    }
}
