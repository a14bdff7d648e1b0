package flakeproof.agent.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Lets a class tell which of its lines run: wherever a line begins, and wherever a jump leads to.
 *
 * <p>What the compiler adds is left out, as JaCoCo does: synthetic methods but those of lambda
 * expressions, an enum's {@code values} and {@code valueOf}, private constructors that do nothing, and
 * the end of a {@code finally}.
 */
final class LineProbes {
    private static final int SYNTHETIC = 0x1000;
    private static final int PRIVATE = 0x0002;
    private static final int SIPUSH = 0x11;
    private static final int INVOKESTATIC = 0xb8;
    private static final int STACK = 2;

    private LineProbes() {}

    /** The class that tells its lines; null if it has none. */
    static byte[] put(String name, byte[] bytes) throws IOException {
        ClassEditor editor = new ClassEditor(bytes);
        Map<ClassEditor.Method, CodeEditor> edited = new HashMap<>();
        List<ClassEditor.Method> followed = new ArrayList<>();
        int lastLine = 0;
        for (ClassEditor.Method method : editor.methods) {
            if (method.code < 0) {
                continue;
            }
            CodeEditor code = new CodeEditor(method.attributes.get(method.code), editor.constants);
            if (isWritten(editor, method, code) && !code.lines().isEmpty()) {
                followed.add(method);
                edited.put(method, code);
                for (int line : code.lines().values()) {
                    lastLine = Math.max(lastLine, line);
                }
            }
        }
        if (followed.isEmpty() || editor.sourceFile == null) {
            return null;
        }
        String folder = name.substring(0, name.lastIndexOf('/') + 1);
        int number = Lines.number(folder + editor.sourceFile, lastLine);
        if (number < 0) {
            return null;
        }
        int call = editor.constants.method(
                Lines.class.getName().replace('.', '/'), "ran", "(II)V");
        for (ClassEditor.Method method : followed) {
            CodeEditor code = edited.get(method);
            method.attributes.set(method.code, code.with(probes(code, number, call), STACK));
        }
        return editor.bytes();
    }

    /** Whether somebody wrote a method, and not the compiler alone. */
    private static boolean isWritten(
            ClassEditor editor, ClassEditor.Method method, CodeEditor code) {
        String name = editor.constants.text(method.name);
        String descriptor = editor.constants.text(method.descriptor);
        if ((method.access & SYNTHETIC) != 0 && !name.startsWith("lambda$")) {
            return false;
        }
        boolean isOfEnum = name.equals("values") && descriptor.startsWith("()[L")
                || name.equals("valueOf") && descriptor.startsWith("(Ljava/lang/String;)L");
        // Only the call of the constructor above it is in there.
        boolean isEmpty = name.equals("<init>") && descriptor.equals("()V")
                && (method.access & PRIVATE) != 0 && code.size() == 5;
        return !(editor.isEnum && isOfEnum) && !isEmpty;
    }

    private static Map<Integer, byte[]> probes(CodeEditor code, int type, int call) {
        TreeMap<Integer, Integer> lines = code.lines();
        TreeSet<Integer> places = new TreeSet<>(lines.keySet());
        places.addAll(code.targets());
        places.removeAll(code.endsOfFinally());
        Map<Integer, byte[]> probes = new HashMap<>();
        for (int place : places) {
            Map.Entry<Integer, Integer> line = lines.floorEntry(place);
            if (line != null) {
                probes.put(place, probe(type, line.getValue(), call));
            }
        }
        return probes;
    }

    private static byte[] probe(int type, int line, int call) {
        return new byte[] {
            SIPUSH, (byte) (type >> 8), (byte) type, SIPUSH, (byte) (line >> 8), (byte) line,
            (byte) INVOKESTATIC, (byte) (call >> 8), (byte) call,
        };
    }
}
