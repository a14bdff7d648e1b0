package flakeproof.agent.junit4;

import flakeproof.agent.Execution;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.manipulation.Filter;

/**
 * Keeps only the wanted tests of a runner.
 *
 * <p>Two tests may be called the same. Those versions of JUnit in which that happens ask once for
 * each leaf, in the runner's order, so that counting tells them apart.
 */
final class Choice extends Filter {
    private final Map<String, Set<Integer>> wanted = new HashMap<>();
    private final Map<String, Integer> places = new HashMap<>();
    private final Set<String> ambiguous = new HashSet<>();
    private final Map<String, Integer> asked = new HashMap<>();

    Choice(List<Execution> group) {
        for (Execution execution : group) {
            Leaf leaf = Leaf.of(execution.test.handle);
            wanted.computeIfAbsent(leaf.name, name -> new HashSet<>()).add(leaf.count);
            places.putIfAbsent(leaf.name, places.size());
        }
    }

    /** Looks at all tests of the runner to learn which are called the same. */
    void prepare(Description description) {
        for (Leaf leaf : Leaf.all("", description)) {
            if (leaf.count > 0) {
                ambiguous.add(leaf.name);
            }
        }
    }

    @Override
    public boolean shouldRun(Description description) {
        if (!description.isTest()) {
            return place(description) != Integer.MAX_VALUE;
        }
        String name = description.getDisplayName();
        int count = ambiguous.contains(name) ? asked.merge(name, 1, Integer::sum) - 1 : 0;
        return wanted.containsKey(name) && wanted.get(name).contains(count);
    }

    @Override
    public String describe() {
        return "the tests that flakeproof runs";
    }

    /** The wanted order, for those runners that can be sorted. */
    Comparator<Description> order() {
        return Comparator.comparingInt(this::place);
    }

    private int place(Description description) {
        int place = places.getOrDefault(description.getDisplayName(), Integer.MAX_VALUE);
        for (Description child : description.getChildren()) {
            place = Math.min(place, place(child));
        }
        return place;
    }

    /**
     * Numbers equally called tests as they are counted when only the chosen ones are left.
     *
     * <p>The third of three becomes the first if it is chosen alone.
     */
    static final class Ranks {
        private final Map<Execution, Integer> ranks = new IdentityHashMap<>();

        Ranks(List<Execution> group) {
            Map<String, List<Integer>> counts = new HashMap<>();
            for (Execution execution : group) {
                Leaf leaf = Leaf.of(execution.test.handle);
                counts.computeIfAbsent(leaf.name, name -> new ArrayList<>()).add(leaf.count);
            }
            for (Execution execution : group) {
                Leaf leaf = Leaf.of(execution.test.handle);
                long before =
                        counts.get(leaf.name).stream()
                                .filter(count -> count < leaf.count)
                                .distinct()
                                .count();
                ranks.put(execution, (int) before);
            }
        }

        int of(Execution execution) {
            return ranks.get(execution);
        }

        String handle(Execution execution) {
            return Leaf.of(execution.test.handle).handle(of(execution));
        }
    }
}
