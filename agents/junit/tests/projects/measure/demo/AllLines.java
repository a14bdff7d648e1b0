package demo;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Each line that runs between {@code begin} and {@code end} says so, and no other does. */
public class AllLines { // ran
    enum Kind { NONE, ONE } // ran

    static final class Pair {
        final Object first;

        Pair(Object first) { // ran
            this.first = first; // ran
        } // ran
    }

    static final class Single {
        static final Single ONLY = new Single(); // ran

        private Single() {}
    }

    static String table(int n) {
        switch (n) { // ran
            case 1: return "one";
            case 2: return "two"; // ran
            case 3: return "three";
            default: return "many"; // ran
        }
    }

    static int lookup(int n) {
        switch (n) { // ran
            case 10: return 1;
            case 100_000: return 2; // ran
            default: return 3;
        }
    }

    static Object uninitialised(boolean is) {
        return new Pair( // ran
            is // ran
                ? new Pair("yes") // ran
                // To the compiler the end of the outer call is a part of the last line.
                : new Pair("no")); // ran
    }

    static int caught(String text) {
        int found = 0; // ran
        try {
            found = Integer.parseInt(text); // ran
            found++;
        } catch (NumberFormatException wrong) { // ran
            found = -1; // ran
        } finally {
            found *= 2; // ran
        }
        return found; // ran
    }

    static long loop(List<String> words) {
        long sum = 0; // ran
        for (String word : words) { // ran
            if (word.isEmpty()) { // ran
                continue;
            }
            synchronized (words) { // ran
                sum += word.length(); // ran
            } // ran
        } // ran
        return sum; // ran
    }

    void all() {
        table(2); // ran
        table(9); // ran
        lookup(100_000); // ran
        uninitialised(true); // ran
        caught("x"); // ran
        List<String> words = new ArrayList<>(); // ran
        words.add("a"); // ran
        loop(words); // ran
        Supplier<String> never = () -> { // ran
            return "never";
        };
        Supplier<String> once = () -> "once"; // ran
        once.get(); // ran
        Kind.valueOf("ONE"); // ran
        Single.ONLY.hashCode(); // ran
        assert words.size() == 1; // ran
    } // ran
}
