package flakeproof.agent.orders;

import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;

/** A spliterator in the seed's order, which takes what is there when the first thing is asked for. */
final class LateSpliterator<T> implements Spliterator<T> {
    private final Spliterator<T> usual;
    private Spliterator<T> taken;

    LateSpliterator(Spliterator<T> usual) {
        this.usual = usual;
    }

    private Spliterator<T> taken() {
        if (taken == null) {
            Collector<T> all = new Collector<>();
            usual.forEachRemaining(all);
            Object[] things = all.found.toArray();
            if (things.length > 1) {
                Permutation.of(things.length).apply(things);
            }
            taken = Spliterators.spliterator(things, usual.characteristics());
        }
        return taken;
    }

    @Override
    public boolean tryAdvance(Consumer<? super T> action) {
        return taken().tryAdvance(action);
    }

    @Override
    public void forEachRemaining(Consumer<? super T> action) {
        taken().forEachRemaining(action);
    }

    @Override
    public Spliterator<T> trySplit() {
        return taken().trySplit();
    }

    @Override
    public long estimateSize() {
        return taken == null ? usual.estimateSize() : taken.estimateSize();
    }

    @Override
    public int characteristics() {
        return taken == null ? usual.characteristics() : taken.characteristics();
    }

    /** No lambda: this runs where lambdas are made, too. */
    private static final class Collector<T> implements Consumer<T> {
        final List<T> found = new ArrayList<>();

        @Override
        public void accept(T thing) {
            found.add(thing);
        }
    }
}
