package flakeproof.agent.orders;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** What only the JDK's own classes see of its maps. */
final class Inside {
    private static MethodHandle mapOf;
    private static MethodHandle expected;
    private static MethodHandle changes;
    private static MethodHandle entries;
    private static MethodHandle nextNode;
    private static MethodHandle hash;
    private static MethodHandle removeNode;
    private static MethodHandle concurrentMapOf;
    private static MethodHandle lastReturned;

    private Inside() {}

    static void prepare() throws ReflectiveOperationException {
        Class<?> map = HashMap.class;
        Class<?> node = Class.forName("java.util.HashMap$Node");
        Class<?> iterator = Class.forName("java.util.HashMap$HashIterator");
        Class<?> entryIterator = Class.forName("java.util.HashMap$EntryIterator");
        MethodHandles.Lookup in = MethodHandles.privateLookupIn(map, MethodHandles.lookup());
        MethodHandles.Lookup inIterator = MethodHandles.privateLookupIn(iterator, MethodHandles.lookup());
        mapOf = object(inIterator.findGetter(iterator, "this$0", map));
        expected = inIterator.findGetter(iterator, "expectedModCount", int.class)
                .asType(MethodType.methodType(int.class, Object.class));
        nextNode = object(inIterator.findVirtual(iterator, "nextNode", MethodType.methodType(node)));
        changes = in.findGetter(map, "modCount", int.class);
        entries = in.findConstructor(entryIterator, MethodType.methodType(void.class, map))
                .asType(MethodType.methodType(Object.class, HashMap.class));
        hash = in.findStatic(map, "hash", MethodType.methodType(int.class, Object.class));
        MethodType removal = MethodType.methodType(
                node, int.class, Object.class, Object.class, boolean.class, boolean.class);
        removeNode = in.findVirtual(map, "removeNode", removal);
        removeNode = removeNode.asType(removeNode.type().changeReturnType(Object.class));

        Class<?> concurrent = Class.forName("java.util.concurrent.ConcurrentHashMap$BaseIterator");
        Class<?> concurrentNode = Class.forName("java.util.concurrent.ConcurrentHashMap$Node");
        MethodHandles.Lookup inConcurrent =
                MethodHandles.privateLookupIn(concurrent, MethodHandles.lookup());
        concurrentMapOf =
                object(inConcurrent.findGetter(concurrent, "map", ConcurrentHashMap.class));
        lastReturned = object(inConcurrent.findGetter(concurrent, "lastReturned", concurrentNode));
    }

    private static MethodHandle object(MethodHandle handle) {
        return handle.asType(MethodType.methodType(Object.class, Object.class));
    }

    static HashMap<?, ?> mapOf(Iterator<?> iterator) {
        try {
            return (HashMap<?, ?>) (Object) mapOf.invokeExact((Object) iterator);
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    static int expected(Iterator<?> iterator) {
        try {
            return (int) expected.invokeExact((Object) iterator);
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    static int changes(HashMap<?, ?> map) {
        try {
            return (int) changes.invokeExact((HashMap) map);
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    /** All entries of a map in the usual order. */
    static Object[] nodes(HashMap<?, ?> map) {
        try {
            return rest((Iterator<?>) (Object) entries.invokeExact((HashMap) map));
        } catch (RuntimeException | Error theirs) {
            throw theirs;
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    /** The entries that an iterator of a map has not come to. */
    static Object[] rest(Iterator<?> iterator) {
        List<Object> found = new ArrayList<>();
        try {
            while (iterator.hasNext()) {
                found.add((Object) nextNode.invokeExact((Object) iterator));
            }
        } catch (RuntimeException | Error theirs) {
            throw theirs;
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
        return found.toArray();
    }

    static void remove(HashMap<?, ?> map, Object key) {
        try {
            int number = (int) hash.invokeExact(key);
            Object removed =
                    (Object) removeNode.invokeExact((HashMap) map, number, key, (Object) null, false, false);
        } catch (RuntimeException | Error theirs) {
            throw theirs;
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    static ConcurrentHashMap<?, ?> concurrentMapOf(Iterator<?> iterator) {
        try {
            return (ConcurrentHashMap<?, ?>) (Object) concurrentMapOf.invokeExact((Object) iterator);
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }

    /** The entry that an iterator came to last. */
    static Object lastReturned(Iterator<?> iterator) {
        try {
            return (Object) lastReturned.invokeExact((Object) iterator);
        } catch (Throwable fault) {
            throw new AssertionError(fault);
        }
    }
}
