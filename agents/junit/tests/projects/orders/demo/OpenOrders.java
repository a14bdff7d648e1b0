package demo;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Prints things in orders that are left open, and in some that are not: a name and what comes out. */
public final class OpenOrders {
    private static final class Shape {
        int first;
        int second;
        int third;

        void one() {}

        void two() {}

        Shape() {}

        Shape(int size) {}
    }

    private OpenOrders() {}

    /** The argument is a folder with files in it. */
    public static void main(String[] arguments) {
        Map<String, Integer> map = filled(new HashMap<>());
        say("toString", map);
        say("keys", map.keySet());
        say("values", map.values());
        say("entries", new ArrayList<>(map.entrySet()));
        say("copied", new ArrayList<>(map.keySet()));
        say("array", Arrays.asList(map.keySet().toArray(new String[9])));
        say("stream", map.keySet().stream().collect(Collectors.joining()));
        StringBuilder each = new StringBuilder();
        map.forEach((key, value) -> each.append(key).append(value));
        say("forEach", each);
        say("again", map);
        say("set", new HashSet<>(Arrays.asList("x", "y", "z")));
        say("setStream", new HashSet<>(Arrays.asList("x", "y", "z")).stream().collect(Collectors.joining()));
        say("concurrent", filled(new ConcurrentHashMap<>()).keySet());
        say("fields", names(Shape.class.getDeclaredFields()));
        say("methods", names(Shape.class.getDeclaredMethods()));
        List<Integer> counts = new ArrayList<>();
        for (java.lang.reflect.Constructor<?> each2 : Shape.class.getDeclaredConstructors()) {
            counts.add(each2.getParameterCount());
        }
        say("constructors", counts);
        say("list", Arrays.asList(new File(arguments[0]).list()));
        List<String> files = new ArrayList<>();
        for (File file : new File(arguments[0]).listFiles()) {
            files.add(file.getName());
        }
        say("listFiles", files);

        say("linked", filled(new LinkedHashMap<>()));
        say("linkedSet", new LinkedHashSet<>(Arrays.asList(3, 1, 2)));
        say("linkedStream",
                new LinkedHashSet<>(Arrays.asList("c", "a", "b")).stream().collect(Collectors.joining()));
        say("sorted", new TreeMap<>(map));
        say("removed", removed(map));
        say("concurrentlyRemoved", concurrentlyRemoved());
        say("failsFast", failsFast());
    }

    private static Map<String, Integer> filled(Map<String, Integer> map) {
        for (String key : "a b c d".split(" ")) {
            map.put(key, map.size());
        }
        return map;
    }

    private static List<String> names(java.lang.reflect.Member[] members) {
        List<String> names = new ArrayList<>();
        for (java.lang.reflect.Member member : members) {
            names.add(member.getName());
        }
        return names;
    }

    private static Object removed(Map<String, Integer> from) {
        Map<String, Integer> map = new HashMap<>(from);
        for (Iterator<Map.Entry<String, Integer>> all = map.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<String, Integer> entry = all.next();
            if (entry.getValue() < 3) {
                all.remove();
            } else {
                entry.setValue(9);
            }
        }
        return map;
    }

    private static Object concurrentlyRemoved() {
        Map<String, Integer> map = filled(new ConcurrentHashMap<>());
        for (Iterator<Integer> all = map.values().iterator(); all.hasNext(); ) {
            if (all.next() != 2) {
                all.remove();
            }
        }
        return map;
    }

    private static boolean failsFast() {
        Map<String, Integer> map = filled(new HashMap<>());
        try {
            for (String key : map.keySet()) {
                map.put(key + key, 1);
            }
            return false;
        } catch (ConcurrentModificationException expected) {
            return true;
        }
    }

    private static void say(String name, Object what) {
        System.out.println(name + " " + what);
    }
}
