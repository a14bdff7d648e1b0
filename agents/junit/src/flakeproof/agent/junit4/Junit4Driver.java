package flakeproof.agent.junit4;

import flakeproof.agent.Driver;
import flakeproof.agent.Execution;
import flakeproof.agent.Pieces;
import flakeproof.agent.Report;
import flakeproof.agent.Settings;
import flakeproof.agent.Suite;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.runner.Request;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.NoTestsRemainException;
import org.junit.runner.manipulation.Sorter;
import org.junit.runner.notification.RunNotifier;

/**
 * JUnit 4, and through it JUnit 3: each class has a runner, which can be filtered and sorted.
 *
 * <p>Needs JUnit 4.4 or newer.
 */
public final class Junit4Driver implements Driver {
    private final Settings settings;

    /** A driver for a suite. */
    public Junit4Driver(Settings settings) {
        this.settings = settings;
    }

    @Override
    public String describe() {
        return "JUnit " + junit.runner.Version.id();
    }

    @Override
    public boolean owns(String handle) {
        return handle.startsWith(Leaf.PREFIX);
    }

    @Override
    public String group(String handle) {
        return Leaf.PREFIX + Leaf.of(handle).root;
    }

    @Override
    public void collect(Suite suite) {
        for (String name : settings.classes) {
            Class<?> type = suite.load(name);
            try {
                if (type != null && TestClasses.isOne(type)) {
                    collect(type, suite);
                }
            } catch (RuntimeException | LinkageError broken) {
                suite.problem(name, broken);
            }
        }
    }

    private void collect(Class<?> type, Suite suite) {
        Runner runner = Request.aClass(type).getRunner();
        for (Leaf leaf : Leaf.all(type.getName(), runner.getDescription())) {
            boolean isWanted = settings.selection.wants(leaf.type(), leaf.method());
            if (isWanted && Categories.want(settings, leaf, type)) {
                suite.add(leaf.id(), leaf.handle());
            }
        }
    }

    @Override
    public void run(List<Execution> group, Report report) {
        String root = Leaf.of(group.get(0).test.handle).root;
        Choice choice = new Choice(group);
        Runner runner = chosen(root, choice);
        if (runner == null) {
            report.settle(group);
            return;
        }
        List<List<Execution>> pieces = pieces(root, runner, group);
        if (pieces.size() > 1) {
            // Its runner would run them in another order: then it is set up more than once.
            pieces.forEach(piece -> run(piece, report));
            return;
        }
        RunNotifier notifier = new RunNotifier();
        notifier.addListener(new Listener(group, report));
        runner.run(notifier);
        report.settle(group);
    }

    /** The runner of a class with only the chosen tests; null if it knows none of them. */
    private static Runner chosen(String root, Choice choice) {
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            Runner runner = Request.aClass(Class.forName(root, false, loader)).getRunner();
            choice.prepare(runner.getDescription());
            choice.apply(runner);
            new Sorter(choice.order()).apply(runner);
            return runner;
        } catch (NoTestsRemainException none) {
            return null;
        } catch (ClassNotFoundException gone) {
            throw new NoClassDefFoundError(root);
        }
    }

    private static List<List<Execution>> pieces(
            String root, Runner runner, List<Execution> group) {
        Map<String, Integer> positions = new HashMap<>();
        for (Leaf leaf : Leaf.all(root, runner.getDescription())) {
            positions.put(leaf.handle(), positions.size());
        }
        Choice.Ranks ranks = new Choice.Ranks(group);
        return Pieces.rising(
                group,
                execution -> {
                    Integer position = positions.get(ranks.handle(execution));
                    return position == null ? null : Collections.singletonList(position);
                });
    }
}
