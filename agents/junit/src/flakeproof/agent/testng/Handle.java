package flakeproof.agent.testng;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** What it takes to run a TestNG test again without a search. */
final class Handle {
    static final String PREFIX = "testng:";

    /** The row of a test that is not run row by row. */
    static final int WHOLE = -1;

    /** The class to give to TestNG: the test's own, or one with a factory. */
    final String root;

    /** The test's class. */
    final String type;

    /** Its method. */
    final String method;

    /** The row of its data provider, counted from 0. */
    final int row;

    /** Other classes whose set-up and teardown of the suite apply to it. */
    final List<String> surroundings;

    Handle(String root, String type, String method, int row, Collection<String> surroundings) {
        this.root = root;
        this.type = type;
        this.method = method;
        this.row = row;
        this.surroundings = new ArrayList<>(surroundings);
    }

    static Handle parse(String text) {
        String[] parts = text.substring(PREFIX.length()).split("\\|", 5);
        List<String> surroundings = new ArrayList<>();
        if (!parts[4].isEmpty()) {
            surroundings.addAll(Arrays.asList(parts[4].split(",")));
        }
        return new Handle(parts[0], parts[1], parts[2], Integer.parseInt(parts[3]), surroundings);
    }

    String id() {
        return type + "#" + method + (row == WHOLE ? "" : "[" + row + "]");
    }

    @Override
    public String toString() {
        return PREFIX + String.join(
                "|", root, type, method, String.valueOf(row), String.join(",", surroundings));
    }
}
