package flakeproof.agent;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Cuts a wanted order into pieces that a framework with an order of its own will keep. */
public final class Pieces {
    private Pieces() {}

    /**
     * The longest pieces of the wanted order in which the framework's positions only rise.
     *
     * <p>A position is a list of numbers, compared from the left. A test without a position is
     * unknown to the framework and a piece of its own, so that results come in order. No test is
     * twice in a piece.
     */
    public static List<List<Execution>> rising(
            List<Execution> wanted, Function<Execution, List<Integer>> position) {
        List<List<Execution>> pieces = new ArrayList<>();
        List<Integer> before = null;
        Set<String> handles = new HashSet<>();
        for (Execution execution : wanted) {
            List<Integer> here = position.apply(execution);
            boolean isRising = before != null && here != null && compare(before, here) <= 0;
            if (!isRising || handles.contains(execution.test.handle)) {
                pieces.add(new ArrayList<>());
                handles.clear();
            }
            pieces.get(pieces.size() - 1).add(execution);
            handles.add(execution.test.handle);
            before = here;
        }
        return pieces;
    }

    private static int compare(List<Integer> one, List<Integer> other) {
        for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
            int order = Integer.compare(one.get(i), other.get(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(one.size(), other.size());
    }
}
