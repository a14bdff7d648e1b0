package flakeproof.agent.orders;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes what methods of a class file give back, or do.
 *
 * <p>Only such changes as need no new stack map: something before the last instruction, or a new body
 * without branches. So it knows nothing of instructions, and reads the class files of every JDK.
 */
final class ClassEditor {
    private static final int NOP = 0x00;
    private static final int ARETURN = 0xb0;
    private static final int RETURN = 0xb1;
    private static final int INVOKESTATIC = 0xb8;
    private static final int CHECKCAST = 0xc0;
    private static final int ALOAD_0 = 0x2a;
    private static final int ALOAD_1 = 0x2b;

    private final byte[] version;
    private final List<String> texts = new ArrayList<>();
    private final ByteArrayOutputStream constants = new ByteArrayOutputStream();
    private int constantCount;
    private final byte[] upToMethods;
    private final List<Method> methods = new ArrayList<>();
    private final byte[] rest;

    /** A method: its numbers, and its attributes. */
    private static final class Method {
        int access;
        int name;
        int descriptor;
        final List<Attribute> attributes = new ArrayList<>();
    }

    private static final class Attribute {
        final int name;
        byte[] content;

        Attribute(int name, byte[] content) {
            this.name = name;
            this.content = content;
        }
    }

    ClassEditor(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        version = in.readNBytes(8);
        readConstants(in);
        int begin = bytes.length - in.available();
        in.skipBytes(6);
        in.skipBytes(2 * in.readUnsignedShort());
        for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
            in.skipBytes(6);
            skipAttributes(in);
        }
        int end = bytes.length - in.available();
        upToMethods = java.util.Arrays.copyOfRange(bytes, begin, end);
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            methods.add(readMethod(in));
        }
        rest = in.readAllBytes();
    }

    private void readConstants(DataInputStream in) throws IOException {
        constantCount = in.readUnsignedShort();
        DataOutputStream out = new DataOutputStream(constants);
        texts.add(null);
        while (texts.size() < constantCount) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            String text = null;
            if (tag == 1) {
                text = in.readUTF();
                out.writeUTF(text);
            } else {
                out.write(in.readNBytes(length(tag)));
            }
            texts.add(text);
            if (tag == 5 || tag == 6) {
                texts.add(null);
            }
        }
    }

    private static int length(int tag) throws IOException {
        switch (tag) {
            case 7: case 8: case 16: case 19: case 20:
                return 2;
            case 15:
                return 3;
            case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18:
                return 4;
            case 5: case 6:
                return 8;
            default:
                throw new IOException("a constant of an unknown kind " + tag);
        }
    }

    private static void skipAttributes(DataInputStream in) throws IOException {
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            in.skipBytes(2);
            in.skipBytes(in.readInt());
        }
    }

    private static Method readMethod(DataInputStream in) throws IOException {
        Method method = new Method();
        method.access = in.readUnsignedShort();
        method.name = in.readUnsignedShort();
        method.descriptor = in.readUnsignedShort();
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            int name = in.readUnsignedShort();
            method.attributes.add(new Attribute(name, in.readNBytes(in.readInt())));
        }
        return method;
    }

    /**
     * Lets what a method gives back at its end go through a static method of one argument, or of two
     * where the object itself is told, too. Returns before the end stay as they are.
     */
    boolean passResultThrough(
            String method, String descriptor, String helper, String helperDescriptor, boolean withThis)
            throws IOException {
        Attribute code = codeOf(method, descriptor);
        if (code == null) {
            return false;
        }
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(code.content));
        int stack = in.readUnsignedShort();
        int locals = in.readUnsignedShort();
        byte[] body = in.readNBytes(in.readInt());
        byte[] after = in.readAllBytes();
        if ((body[body.length - 1] & 0xff) != ARETURN) {
            return false;
        }
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        made.write(body, 0, body.length - 1);
        // Tables that end with the method end after this byte, where an instruction must begin.
        made.write(withThis ? ALOAD_0 : NOP);
        call(made, helper, helperDescriptor);
        String type = descriptor.substring(descriptor.indexOf(')') + 1);
        if (!helperDescriptor.endsWith(")" + type)) {
            made.write(CHECKCAST);
            number(made, classConstant(type));
        }
        made.write(ARETURN);
        code.content = codeContent(stack + 1, locals, made.toByteArray(), after);
        return true;
    }

    /** Lets a method of one argument that gives nothing back do what a static method does instead. */
    boolean replace(String method, String descriptor, String helper, String helperDescriptor)
            throws IOException {
        Attribute code = codeOf(method, descriptor);
        if (code == null) {
            return false;
        }
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        made.write(ALOAD_0);
        made.write(ALOAD_1);
        call(made, helper, helperDescriptor);
        made.write(RETURN);
        code.content = codeContent(2, 2, made.toByteArray(), new byte[4]);
        return true;
    }

    /** The class file as it is now. */
    byte[] bytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(version);
        out.writeShort(constantCount);
        constants.writeTo(out);
        out.write(upToMethods);
        out.writeShort(methods.size());
        for (Method method : methods) {
            out.writeShort(method.access);
            out.writeShort(method.name);
            out.writeShort(method.descriptor);
            out.writeShort(method.attributes.size());
            for (Attribute attribute : method.attributes) {
                out.writeShort(attribute.name);
                out.writeInt(attribute.content.length);
                out.write(attribute.content);
            }
        }
        out.write(rest);
        return bytes.toByteArray();
    }

    private Attribute codeOf(String name, String descriptor) {
        for (Method method : methods) {
            if (name.equals(texts.get(method.name)) && descriptor.equals(texts.get(method.descriptor))) {
                for (Attribute attribute : method.attributes) {
                    if ("Code".equals(texts.get(attribute.name))) {
                        return attribute;
                    }
                }
            }
        }
        return null;
    }

    private static byte[] codeContent(int stack, int locals, byte[] body, byte[] after)
            throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeShort(stack);
        out.writeShort(locals);
        out.writeInt(body.length);
        out.write(body);
        out.write(after);
        return bytes.toByteArray();
    }

    private void call(ByteArrayOutputStream code, String helper, String descriptor) throws IOException {
        code.write(INVOKESTATIC);
        int owner = classConstant(Orders.class.getName().replace('.', '/'));
        int name = pair(12, text(helper), text(descriptor));
        number(code, pair(10, owner, name));
    }

    private static void number(ByteArrayOutputStream out, int number) {
        out.write(number >> 8);
        out.write(number);
    }

    private int classConstant(String name) throws IOException {
        int text = text(name);
        constants.write(7);
        number(constants, text);
        return constantCount++;
    }

    private int pair(int tag, int first, int second) {
        constants.write(tag);
        number(constants, first);
        number(constants, second);
        return constantCount++;
    }

    private int text(String text) throws IOException {
        constants.write(1);
        new DataOutputStream(constants).writeUTF(text);
        return constantCount++;
    }
}
