package flakeproof.agent.junit4;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.runner.Description;

/** A test as JUnit 4 describes it: a leaf of the descriptions of a class's runner. */
final class Leaf {
    static final String PREFIX = "junit4:";

    private static final Pattern METHOD = Pattern.compile("(.*)\\(([^()]*)\\)", Pattern.DOTALL);

    /** The class whose runner runs it. */
    final String root;

    /** Counts, from 0, the leaves of that runner that are called the same. */
    final int count;

    /** How JUnit calls it: {@code method(class)}, as a rule. */
    final String name;

    /** The description; null if the leaf comes from a handle. */
    final Description description;

    private Leaf(String root, int count, String name, Description description) {
        this.root = root;
        this.count = count;
        this.name = name;
        this.description = description;
    }

    /** The leaf that a handle stands for. */
    static Leaf of(String handle) {
        String[] parts = handle.substring(PREFIX.length()).split("\\|", 3);
        return new Leaf(parts[0], Integer.parseInt(parts[1]), parts[2], null);
    }

    /** All leaves below a description, in its order. */
    static List<Leaf> all(String root, Description description) {
        List<Leaf> leaves = new ArrayList<>();
        add(root, description, leaves, new HashMap<>());
        return leaves;
    }

    private static void add(
            String root, Description here, List<Leaf> leaves, Map<String, Integer> counts) {
        if (here.isTest()) {
            int count = counts.merge(here.getDisplayName(), 1, Integer::sum) - 1;
            leaves.add(new Leaf(root, count, here.getDisplayName(), here));
        }
        for (Description child : here.getChildren()) {
            add(root, child, leaves, counts);
        }
    }

    String handle() {
        return handle(count);
    }

    String handle(int other) {
        return PREFIX + root + "|" + other + "|" + name;
    }

    /** The test's class; the whole class is a leaf where it is ignored. */
    String type() {
        Matcher matcher = METHOD.matcher(name);
        return matcher.matches() ? matcher.group(2) : root;
    }

    String method() {
        Matcher matcher = METHOD.matcher(name);
        if (matcher.matches()) {
            return matcher.group(1);
        }
        return name.equals(root) ? "" : name;
    }

    String id() {
        return method().isEmpty() ? type() : type() + "#" + method();
    }
}
