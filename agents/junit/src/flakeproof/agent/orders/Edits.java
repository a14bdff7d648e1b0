package flakeproof.agent.orders;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Which methods of the JDK give something in an order that their specification leaves open. */
final class Edits {
    private static final String ITERATOR = "()Ljava/util/Iterator;";
    private static final String SPLITERATOR = "()Ljava/util/Spliterator;";
    private static final String CONSUMER = "(Ljava/util/function/Consumer;)V";

    private final List<Edit> all = new ArrayList<>();

    private static final class Edit {
        final String type;
        final String method;
        final String descriptor;
        final String helper;
        final String helperDescriptor;
        final Way way;

        Edit(String type, String method, String descriptor, String helper, String given, Way way) {
            this.type = type;
            this.method = method;
            this.descriptor = descriptor;
            this.helper = helper;
            this.helperDescriptor = given;
            this.way = way;
        }
    }

    private enum Way { RESULT, RESULT_AND_THIS, INSTEAD }

    Edits() {
        for (String view : new String[] {"KeySet", "Values", "EntrySet"}) {
            String type = "java.util.HashMap$" + view;
            iterator(type, "hashIterator");
            spliterator(type);
            add(type, "forEach", CONSUMER, "forEach",
                    "(Ljava/util/Collection;Ljava/util/function/Consumer;)V", Way.INSTEAD);
        }
        spliterator("java.util.HashSet");
        add("java.util.HashMap", "forEach", "(Ljava/util/function/BiConsumer;)V", "forEach",
                "(Ljava/util/HashMap;Ljava/util/function/BiConsumer;)V", Way.INSTEAD);
        for (String method : new String[] {"keysToArray", "valuesToArray"}) {
            add("java.util.HashMap", method, "([Ljava/lang/Object;)[Ljava/lang/Object;", "mapArray",
                    "([Ljava/lang/Object;Ljava/util/HashMap;)[Ljava/lang/Object;", Way.RESULT_AND_THIS);
        }
        for (String view : new String[] {"KeySetView", "ValuesView", "EntrySetView"}) {
            String type = "java.util.concurrent.ConcurrentHashMap$" + view;
            iterator(type, "concurrentIterator");
            spliterator(type);
        }
        array("java.lang.Class", "getDeclaredFields", "[Ljava/lang/reflect/Field;");
        array("java.lang.Class", "getFields", "[Ljava/lang/reflect/Field;");
        array("java.lang.Class", "getDeclaredMethods", "[Ljava/lang/reflect/Method;");
        array("java.lang.Class", "getMethods", "[Ljava/lang/reflect/Method;");
        array("java.lang.Class", "getDeclaredConstructors", "[Ljava/lang/reflect/Constructor;");
        array("java.lang.Class", "getConstructors", "[Ljava/lang/reflect/Constructor;");
        array("java.lang.Class", "getDeclaredClasses", "[Ljava/lang/Class;");
        array("java.io.File", "list", "[Ljava/lang/String;");
        array("java.io.File", "listFiles", "[Ljava/io/File;");
    }

    private void iterator(String type, String helper) {
        add(type, "iterator", ITERATOR, helper, "(Ljava/util/Iterator;)Ljava/util/Iterator;", Way.RESULT);
    }

    private void spliterator(String type) {
        add(type, "spliterator", SPLITERATOR, "spliterator",
                "(Ljava/util/Spliterator;)Ljava/util/Spliterator;", Way.RESULT);
    }

    private void array(String type, String method, String given) {
        add(type, method, "()" + given, "array", "([Ljava/lang/Object;)[Ljava/lang/Object;", Way.RESULT);
    }

    private void add(
            String type, String method, String descriptor, String helper, String given, Way way) {
        all.add(new Edit(type, method, descriptor, helper, given, way));
    }

    /** The classes that are edited, each once. */
    List<String> classes() {
        List<String> names = new ArrayList<>();
        for (Edit edit : all) {
            if (!names.contains(edit.type)) {
                names.add(edit.type);
            }
        }
        return names;
    }

    /** A class with all its edits; null where there is none. A method that this JDK lacks is passed over. */
    byte[] apply(String type, byte[] bytes) {
        try {
            ClassEditor editor = new ClassEditor(bytes);
            boolean isEdited = false;
            for (Edit edit : all) {
                if (edit.type.equals(type)) {
                    isEdited |= apply(editor, edit);
                }
            }
            return isEdited ? editor.bytes() : null;
        } catch (IOException | RuntimeException unreadable) {
            System.err.println("flakeproof: the order of " + type + " stays: " + unreadable);
            return null;
        }
    }

    private static boolean apply(ClassEditor editor, Edit edit) throws IOException {
        if (edit.way == Way.INSTEAD) {
            return editor.replace(edit.method, edit.descriptor, edit.helper, edit.helperDescriptor);
        }
        return editor.passResultThrough(
                edit.method, edit.descriptor, edit.helper, edit.helperDescriptor,
                edit.way == Way.RESULT_AND_THIS);
    }
}
