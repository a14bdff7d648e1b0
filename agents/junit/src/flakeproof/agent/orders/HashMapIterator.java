package flakeproof.agent.orders;

import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;

/** The iterator of a {@code HashMap} in the seed's order, which fails as fast as the usual one. */
final class HashMapIterator implements Iterator<Object> {
    private final HashMap<?, ?> map;
    private final Object[] nodes;
    private final char gives;
    private int expected;
    private int next;
    private Map.Entry<?, ?> last;

    HashMapIterator(HashMap<?, ?> map, Iterator<?> usual) {
        this.map = map;
        String name = usual.getClass().getSimpleName();
        gives = name.charAt(0);
        expected = Inside.expected(usual);
        nodes = Inside.rest(usual);
        if (nodes.length > 1) {
            Permutation.of(nodes.length).apply(nodes);
        }
    }

    @Override
    public boolean hasNext() {
        return next < nodes.length;
    }

    @Override
    public Object next() {
        check();
        if (next >= nodes.length) {
            throw new NoSuchElementException();
        }
        last = (Map.Entry<?, ?>) nodes[next++];
        switch (gives) {
            case 'K':
                return last.getKey();
            case 'V':
                return last.getValue();
            default:
                return last;
        }
    }

    @Override
    public void remove() {
        if (last == null) {
            throw new IllegalStateException();
        }
        check();
        Inside.remove(map, last.getKey());
        last = null;
        expected = Inside.changes(map);
    }

    private void check() {
        if (Inside.changes(map) != expected) {
            throw new ConcurrentModificationException();
        }
    }
}
