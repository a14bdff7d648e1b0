package flakeproof.agent.measure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A class file whose methods can be edited; everything else of it stays as it is. */
final class ClassEditor {
    final ConstantPool constants;
    final List<Method> methods = new ArrayList<>();

    /** The file that it was compiled from, without folders; null if that is not known. */
    final String sourceFile;

    /** Whether it is an enum. */
    final boolean isEnum;

    private final byte[] version;
    private final byte[] upToMethods;
    private final byte[] rest;

    /** A method, with its instructions if it has any. */
    static final class Method {
        int access;
        int name;
        int descriptor;
        final List<Integer> attributeNames = new ArrayList<>();
        final List<byte[]> attributes = new ArrayList<>();

        /** Where its instructions are among the attributes; -1 if it has none. */
        int code = -1;
    }

    ClassEditor(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        version = CodeEditor.read(in, 8);
        constants = new ConstantPool(in);
        int begin = bytes.length - in.available();
        isEnum = (in.readUnsignedShort() & 0x4000) != 0;
        in.skipBytes(4);
        in.skipBytes(2 * in.readUnsignedShort());
        for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
            in.skipBytes(6);
            for (int count = in.readUnsignedShort(); count > 0; count--) {
                in.skipBytes(2);
                in.skipBytes(in.readInt());
            }
        }
        upToMethods = Arrays.copyOfRange(bytes, begin, bytes.length - in.available());
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            methods.add(readMethod(in));
        }
        rest = CodeEditor.read(in, in.available());
        sourceFile = findSourceFile();
    }

    private Method readMethod(DataInputStream in) throws IOException {
        Method method = new Method();
        method.access = in.readUnsignedShort();
        method.name = in.readUnsignedShort();
        method.descriptor = in.readUnsignedShort();
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            int name = in.readUnsignedShort();
            method.code = "Code".equals(constants.text(name)) ? method.attributes.size() : method.code;
            method.attributeNames.add(name);
            method.attributes.add(CodeEditor.read(in, in.readInt()));
        }
        return method;
    }

    private String findSourceFile() throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(rest));
        for (int count = in.readUnsignedShort(); count > 0; count--) {
            String name = constants.text(in.readUnsignedShort());
            byte[] content = CodeEditor.read(in, in.readInt());
            if ("SourceFile".equals(name)) {
                return constants.text((content[0] & 0xff) << 8 | content[1] & 0xff);
            }
        }
        return null;
    }

    /** The class file as it is now. */
    byte[] bytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.write(version);
        constants.write(out);
        out.write(upToMethods);
        out.writeShort(methods.size());
        for (Method method : methods) {
            out.writeShort(method.access);
            out.writeShort(method.name);
            out.writeShort(method.descriptor);
            out.writeShort(method.attributes.size());
            for (int at = 0; at < method.attributes.size(); at++) {
                out.writeShort(method.attributeNames.get(at));
                out.writeInt(method.attributes.get(at).length);
                out.write(method.attributes.get(at));
            }
        }
        out.write(rest);
        return bytes.toByteArray();
    }
}
