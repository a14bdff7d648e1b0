package flakeproof.agent.orders;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;

/** The iterator of a {@code ConcurrentHashMap} in the seed's order: of what was there when it was made. */
final class ConcurrentIterator implements Iterator<Object> {
    private final ConcurrentHashMap<?, ?> map;
    private final Object[] given;
    private final Object[] keys;
    private int next;
    private Object last;

    ConcurrentIterator(ConcurrentHashMap<?, ?> map, Iterator<?> usual) {
        this.map = map;
        List<Object> all = new ArrayList<>();
        List<Object> allKeys = new ArrayList<>();
        while (usual.hasNext()) {
            all.add(usual.next());
            allKeys.add(((Map.Entry<?, ?>) Inside.lastReturned(usual)).getKey());
        }
        given = all.toArray();
        keys = allKeys.toArray();
        if (given.length > 1) {
            Permutation.of(given.length).apply(given);
            Permutation.of(keys.length).apply(keys);
        }
    }

    @Override
    public boolean hasNext() {
        return next < given.length;
    }

    @Override
    public Object next() {
        if (next >= given.length) {
            throw new NoSuchElementException();
        }
        last = keys[next];
        return given[next++];
    }

    @Override
    public void remove() {
        if (last == null) {
            throw new IllegalStateException();
        }
        map.remove(last);
        last = null;
    }
}
