package flakeproof.agent.orders;

/** The seed's order of so many things. It is never the usual one. */
final class Permutation {
    private static long seed;

    private final int[] from;

    private Permutation(int[] from) {
        this.from = from;
    }

    static void seed(long given) {
        seed = given;
    }

    static Permutation of(int count) {
        long state = seed ^ count * 0x9e3779b97f4a7c15L;
        int[] from = new int[count];
        for (int at = 0; at < count; at++) {
            // Fisher and Yates, from the inside out, with numbers of SplitMix64.
            state += 0x9e3779b97f4a7c15L;
            int other = (int) Long.remainderUnsigned(mixed(state), at + 1);
            from[at] = from[other];
            from[other] = at;
        }
        return new Permutation(isUsual(from) ? turned(from) : from);
    }

    private static long mixed(long state) {
        long mixed = (state ^ state >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    private static boolean isUsual(int[] from) {
        for (int at = 0; at < from.length; at++) {
            if (from[at] != at) {
                return false;
            }
        }
        return true;
    }

    private static int[] turned(int[] from) {
        for (int at = 0; at < from.length; at++) {
            from[at] = from.length - 1 - at;
        }
        return from;
    }

    /** Reorders the beginning of an array. */
    void apply(Object[] things) {
        Object[] before = things.clone();
        for (int at = 0; at < from.length; at++) {
            things[at] = before[from[at]];
        }
    }
}
