package flakeproof.agent.measure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The instructions of one method, and more of them.
 *
 * <p>What is put before an instruction runs whenever that is reached, by a jump, too. It must leave the
 * stack as it is, so that the types that the JVM checks at the targets of jumps stay the same and only
 * their places change.
 */
final class CodeEditor {
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int WIDE = 0xc4;
    private static final int IINC = 0x84;

    /** Bytes of each instruction from 0 on; 0 for those whose length is in them. */
    private static final String LENGTHS =
            "1111111111111111" + "2323322222111111" + "1111111111111111" + "1111112222211111"
                    + "1111111111111111" + "1111111111111111" + "1111111111111111" + "1111111111111111"
                    + "1111311111111111" + "1111111113333333" + "3333333332001111" + "1133333335532311"
                    + "3311043355";

    private final ConstantPool constants;
    private final int stack;
    private final int locals;
    private final byte[] code;
    private final byte[] handlers;
    private final Map<String, byte[]> tables = new TreeMap<>();

    /** Where each instruction was, and what comes before it, and where both are then. */
    private final int[] labels;
    private final int[] places;

    /** What does not fit into a class file: jumps and methods that are too long. */
    static final class TooLong extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** Reads the attribute of a class file with a method's instructions. */
    CodeEditor(byte[] attribute, ConstantPool constants) throws IOException {
        this.constants = constants;
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(attribute));
        stack = in.readUnsignedShort();
        locals = in.readUnsignedShort();
        code = read(in, in.readInt());
        handlers = read(in, 8 * in.readUnsignedShort());
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            String name = constants.text(in.readUnsignedShort());
            byte[] content = read(in, in.readInt());
            // Several tables of lines are one.
            tables.merge(name, content, name.equals("LineNumberTable") ? CodeEditor::joined : (a, b) -> b);
        }
        labels = new int[code.length + 1];
        places = new int[code.length + 1];
    }

    /** The line that begins at each place where one does. */
    TreeMap<Integer, Integer> lines() {
        TreeMap<Integer, Integer> lines = new TreeMap<>();
        byte[] table = tables.get("LineNumberTable");
        for (int at = 2; table != null && at + 4 <= table.length; at += 4) {
            lines.put(u2(table, at), u2(table, at + 2));
        }
        return lines;
    }

    /** The places that are reached by a jump, or after a failure. */
    TreeSet<Integer> targets() {
        TreeSet<Integer> targets = new TreeSet<>();
        for (int at = 0; at < code.length; at += length(at, at)) {
            for (int operand : jumps(at)) {
                targets.add(at + offset(at, operand));
            }
        }
        for (int at = 4; at < handlers.length; at += 8) {
            targets.add(u2(handlers, at));
        }
        return targets;
    }

    /**
     * The places at which a line begins of which nothing is written: where a {@code finally} ends, the
     * compiler throws on what it caught, and jumps over that otherwise.
     */
    TreeSet<Integer> endsOfFinally() {
        Set<Integer> caught = new HashSet<>();
        for (int at = 4; at < handlers.length; at += 8) {
            if (u2(handlers, at + 2) == 0) {
                caught.add(variable(u2(handlers, at), 0x3a, 0x4b));
            }
        }
        TreeSet<Integer> ends = new TreeSet<>();
        TreeMap<Integer, Integer> lines = lines();
        Set<Integer> thrown = new HashSet<>();
        for (int at : lines.keySet()) {
            int next = at + length(at, at);
            boolean isThrown = caught.contains(variable(at, 0x19, 0x2a)) && variable(at, 0x19, 0x2a) >= 0
                    && next < code.length && (code[next] & 0xff) == 0xbf;
            if (isThrown) {
                ends.add(at);
                thrown.add(lines.get(at));
            }
        }
        for (int at : lines.keySet()) {
            Integer end = lines.higherKey(at);
            boolean isJump = (code[at] & 0xff) == 0xa7 && end != null && end == at + 3;
            if (isJump && thrown.contains(lines.get(at))) {
                ends.add(at);
            }
        }
        return ends;
    }

    /** The variable that an instruction reads or writes, by its long and its first short form; or -1. */
    private int variable(int at, int longForm, int shortForm) {
        int instruction = code[at] & 0xff;
        if (instruction == longForm) {
            return code[at + 1] & 0xff;
        }
        boolean isShort = instruction >= shortForm && instruction < shortForm + 4;
        return isShort ? instruction - shortForm : -1;
    }

    /** The places of all instructions of one kind. */
    TreeSet<Integer> all(int instruction) {
        TreeSet<Integer> found = new TreeSet<>();
        for (int at = 0; at < code.length; at += length(at, at)) {
            if ((code[at] & 0xff) == instruction) {
                found.add(at);
            }
        }
        return found;
    }

    /** The number of bytes of all instructions. */
    int size() {
        return code.length;
    }

    /** The attribute with more instructions, which put at most so much on the stack. */
    byte[] with(Map<Integer, byte[]> before, int moreStack) throws IOException {
        place(before);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeShort(stack + moreStack);
        out.writeShort(locals);
        out.writeInt(labels[code.length]);
        for (int at = 0; at < code.length; at += length(at, at)) {
            out.write(before.getOrDefault(at, new byte[0]));
            writeInstruction(out, at);
        }
        out.writeShort(handlers.length / 8);
        for (int at = 0; at < handlers.length; at += 8) {
            out.writeShort(labels[u2(handlers, at)]);
            out.writeShort(labels[u2(handlers, at + 2)]);
            out.writeShort(labels[u2(handlers, at + 4)]);
            out.writeShort(u2(handlers, at + 6));
        }
        // Annotations of types inside of a method say where they are, and nobody can read them then.
        tables.keySet().removeIf(name -> name.endsWith("TypeAnnotations"));
        out.writeShort(tables.size());
        for (Map.Entry<String, byte[]> table : tables.entrySet()) {
            byte[] content = moved(table.getKey(), table.getValue());
            out.writeShort(constants.text(table.getKey()));
            out.writeInt(content.length);
            out.write(content);
        }
        return bytes.toByteArray();
    }

    private void place(Map<Integer, byte[]> before) throws TooLong {
        int now = 0;
        for (int at = 0; at < code.length; at += length(at, at)) {
            labels[at] = now;
            now += before.containsKey(at) ? before.get(at).length : 0;
            places[at] = now;
            now += length(at, now);
        }
        labels[code.length] = now;
        places[code.length] = now;
        if (now > 0xffff) {
            throw new TooLong();
        }
    }

    /** The bytes of the instruction at a place, if it stood there: some are filled up to a multiple of 4. */
    private int length(int at, int there) {
        int instruction = code[at] & 0xff;
        int content = operands(at);
        switch (instruction) {
            case TABLESWITCH:
                return pad(there) + 12 + 4 * (s4(content + 8) - s4(content + 4) + 1);
            case LOOKUPSWITCH:
                return pad(there) + 8 + 8 * s4(content + 4);
            case WIDE:
                return (code[at + 1] & 0xff) == IINC ? 6 : 4;
            default:
                return LENGTHS.charAt(instruction) - '0';
        }
    }

    private static int pad(int at) {
        return 4 - at % 4;
    }

    /** Where the operands of a switch begin. */
    private int operands(int at) {
        return at + pad(at);
    }

    /** Where the instruction holds how far it jumps; nothing if it does not. */
    private int[] jumps(int at) {
        int instruction = code[at] & 0xff;
        boolean isNear = instruction >= 0x99 && instruction <= 0xa8;
        boolean isFar = instruction == 0xc8 || instruction == 0xc9;
        if (isNear || isFar || instruction == 0xc6 || instruction == 0xc7) {
            return new int[] {at + 1};
        }
        if (instruction != TABLESWITCH && instruction != LOOKUPSWITCH) {
            return new int[0];
        }
        int content = operands(at);
        boolean isTable = instruction == TABLESWITCH;
        int count = isTable ? s4(content + 8) - s4(content + 4) + 1 : s4(content + 4);
        int[] all = new int[count + 1];
        all[0] = content;
        for (int number = 0; number < count; number++) {
            all[number + 1] = isTable ? content + 12 + 4 * number : content + 12 + 8 * number;
        }
        return all;
    }

    private boolean isShort(int at) {
        int instruction = code[at] & 0xff;
        return instruction < 0xc8 && instruction != TABLESWITCH && instruction != LOOKUPSWITCH;
    }

    private int offset(int at, int operand) {
        return isShort(at) ? (short) u2(code, operand) : s4(operand);
    }

    private void writeInstruction(DataOutputStream out, int at) throws IOException {
        int end = at + length(at, at);
        int[] jumps = jumps(at);
        if (jumps.length == 0) {
            out.write(code, at, end - at);
            return;
        }
        boolean isSwitch = !isShort(at) && (code[at] & 0xff) < 0xc8;
        out.write(code[at]);
        int next = at + 1;
        if (isSwitch) {
            out.write(new byte[pad(places[at]) - 1]);
            next = operands(at);
        }
        for (int jump : jumps) {
            out.write(code, next, jump - next);
            int far = labels[at + offset(at, jump)] - places[at];
            if (!isShort(at)) {
                out.writeInt(far);
                next = jump + 4;
            } else if (far == (short) far) {
                out.writeShort(far);
                next = jump + 2;
            } else {
                throw new TooLong();
            }
        }
        out.write(code, next, end - next);
    }

    /** A table that says something about places. */
    private byte[] moved(String name, byte[] table) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(table));
        switch (name) {
            case "LineNumberTable":
                out.writeShort(in.readUnsignedShort());
                while (in.available() > 0) {
                    out.writeShort(labels[in.readUnsignedShort()]);
                    out.writeShort(in.readUnsignedShort());
                }
                break;
            case "LocalVariableTable":
            case "LocalVariableTypeTable":
                out.writeShort(in.readUnsignedShort());
                while (in.available() > 0) {
                    int begin = in.readUnsignedShort();
                    int end = begin + in.readUnsignedShort();
                    out.writeShort(labels[begin]);
                    out.writeShort(labels[end] - labels[begin]);
                    out.write(read(in, 6));
                }
                break;
            case "StackMapTable":
                moveFrames(in, out);
                break;
            default:
                return table;
        }
        return bytes.toByteArray();
    }

    /** What types are where, at the targets of jumps; each place is told by its distance to the last. */
    private void moveFrames(DataInputStream in, DataOutputStream out) throws IOException {
        int count = in.readUnsignedShort();
        out.writeShort(count);
        int before = -1;
        int beforeThen = -1;
        for (int number = 0; number < count; number++) {
            int kind = in.readUnsignedByte();
            boolean isShort = kind < 128;
            int delta = isShort ? kind % 64 : in.readUnsignedShort();
            int at = before + 1 + delta;
            int then = labels[at] - beforeThen - 1;
            before = at;
            beforeThen = labels[at];
            // In the longer form of the two short ones the distance always fits.
            out.writeByte(kind < 64 ? 251 : isShort ? 247 : kind);
            out.writeShort(then);
            if (kind == 255) {
                moveTypes(in, out, copied(in, out));
                moveTypes(in, out, copied(in, out));
            } else if (kind > 251) {
                moveTypes(in, out, kind - 251);
            } else if (kind == 247 || kind >= 64 && kind < 128) {
                moveTypes(in, out, 1);
            }
        }
    }

    private static int copied(DataInputStream in, DataOutputStream out) throws IOException {
        int count = in.readUnsignedShort();
        out.writeShort(count);
        return count;
    }

    private void moveTypes(DataInputStream in, DataOutputStream out, int count) throws IOException {
        for (int number = 0; number < count; number++) {
            int type = in.readUnsignedByte();
            out.writeByte(type);
            if (type == 7) {
                out.writeShort(in.readUnsignedShort());
            } else if (type == 8) {
                // An object that was made there, and not initialised yet.
                out.writeShort(places[in.readUnsignedShort()]);
            }
        }
    }

    private int s4(int at) {
        return u2(code, at) << 16 | u2(code, at + 2);
    }

    private static int u2(byte[] bytes, int at) {
        return (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] all = java.util.Arrays.copyOf(first, first.length + second.length - 2);
        System.arraycopy(second, 2, all, first.length, second.length - 2);
        int count = u2(first, 0) + u2(second, 0);
        all[0] = (byte) (count >> 8);
        all[1] = (byte) count;
        return all;
    }

    static byte[] read(DataInputStream in, int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }
}
