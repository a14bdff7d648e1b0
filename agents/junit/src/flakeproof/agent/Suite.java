package flakeproof.agent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tests that were collected, and what could not be. */
public final class Suite {
    private final List<Test> tests = new ArrayList<>();
    private final Set<String> ids = new HashSet<>();
    private final List<Object> problems = new ArrayList<>();

    /** Adds a test; an id that is there already gets a count, so that ids are unique. */
    public void add(String id, String handle) {
        String unique = id;
        for (int count = 2; !ids.add(unique); count++) {
            unique = id + "{" + count + "}";
        }
        tests.add(new Test(tests.size(), unique, handle));
    }

    /** Notes that the tests of a class could not be found. */
    public void problem(String type, Throwable cause) {
        problems.add(Json.map("place", type, "text", Failures.text(cause)));
    }

    /** The class of this name, not initialised; null, and a problem, if it cannot be loaded. */
    public Class<?> load(String name) {
        try {
            return Class.forName(name, false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException | LinkageError broken) {
            problem(name, broken);
            return null;
        }
    }

    Test get(int index) {
        return tests.get(index);
    }

    Map<String, Object> message() {
        List<Object> rows = new ArrayList<>();
        for (Test test : tests) {
            rows.add(new Object[] {test.id, test.handle, null, null});
        }
        return Json.map(
                "say", "collected",
                "root", "",
                "tests", rows,
                "problems", problems,
                "goes_on", true,
                "collect_only", false,
                "threads", 1,
                "selectors", new Object[0],
                "for_order", new Object[0]);
    }
}
