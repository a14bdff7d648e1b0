package flakeproof.agent.orders;

import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Spliterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * What the edited methods of the JDK call.
 *
 * <p>What is shuffled comes in the same order each time as long as it does not change: an order that
 * another JDK could have. It is the seed's order of as many things, and never the usual one.
 */
public final class Orders {
    private static volatile boolean hasBegun;

    private Orders() {}

    /** Loads what is needed, before the JDK calls it. */
    static void prepare() throws ReflectiveOperationException {
        Inside.prepare();
        Permutation.of(3);
        Calls.isChosen("");
    }

    static void begin() {
        hasBegun = true;
    }

    /** An iterator of a {@code HashMap}. */
    public static Iterator<?> hashIterator(Iterator<?> usual) {
        if (!hasBegun) {
            return usual;
        }
        HashMap<?, ?> map = Inside.mapOf(usual);
        if (map.size() < 2 || !Calls.isChosen("the order of a HashMap or HashSet")) {
            return usual;
        }
        return new HashMapIterator(map, usual);
    }

    /** An iterator of a {@code ConcurrentHashMap}. */
    public static Iterator<?> concurrentIterator(Iterator<?> usual) {
        if (!hasBegun) {
            return usual;
        }
        ConcurrentHashMap<?, ?> map = Inside.concurrentMapOf(usual);
        if (map.size() < 2 || !Calls.isChosen("the order of a ConcurrentHashMap")) {
            return usual;
        }
        return new ConcurrentIterator(map, usual);
    }

    /** A spliterator of either. */
    public static Spliterator<?> spliterator(Spliterator<?> usual) {
        boolean isLinked = usual.hasCharacteristics(Spliterator.ORDERED);
        if (!hasBegun || isLinked || !Calls.isChosen("the order of a stream of a HashMap or HashSet")) {
            return usual;
        }
        return new LateSpliterator<>(usual);
    }

    /** Instead of {@code forEach} of a view of a {@code HashMap}. */
    public static void forEach(Collection<?> view, Consumer<Object> action) {
        Objects.requireNonNull(action);
        for (Object each : view) {
            action.accept(each);
        }
    }

    /** Instead of {@code HashMap.forEach}. */
    public static void forEach(HashMap<?, ?> map, BiConsumer<Object, Object> action) {
        Objects.requireNonNull(action);
        Object[] nodes = Inside.nodes(map);
        if (hasBegun && nodes.length > 1 && Calls.isChosen("the order of a HashMap or HashSet")) {
            Permutation.of(nodes.length).apply(nodes);
        }
        int changes = Inside.changes(map);
        for (Object node : nodes) {
            Map.Entry<?, ?> entry = (Map.Entry<?, ?>) node;
            action.accept(entry.getKey(), entry.getValue());
        }
        if (Inside.changes(map) != changes) {
            throw new ConcurrentModificationException();
        }
    }

    /** All keys or values of a {@code HashMap}, at the beginning of an array. */
    public static Object[] mapArray(Object[] usual, HashMap<?, ?> map) {
        int size = Math.min(map.size(), usual.length);
        if (hasBegun && size > 1 && Calls.isChosen("the order of a HashMap or HashSet")) {
            Permutation.of(size).apply(usual);
        }
        return usual;
    }

    /** What reflection or a folder tells; the array is the caller's own. */
    public static Object[] array(Object[] usual) {
        if (hasBegun && usual != null && usual.length > 1) {
            if (Calls.isChosen("the order of " + usual.getClass().getComponentType().getSimpleName() + "s")) {
                Permutation.of(usual.length).apply(usual);
            }
        }
        return usual;
    }
}
