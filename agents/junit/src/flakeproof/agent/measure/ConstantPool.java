package flakeproof.agent.measure;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** The constants of a class file, to which others can be added. */
final class ConstantPool {
    private final Map<Integer, String> texts = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private int count;

    ConstantPool(DataInputStream in) throws IOException {
        int length = in.readUnsignedShort();
        for (count = 1; count < length; count++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            if (tag == 1) {
                String text = in.readUTF();
                out.writeUTF(text);
                texts.put(count, text);
                numbers.put(text, count);
            } else {
                out.write(CodeEditor.read(in, length(tag)));
            }
            // Long numbers have two places.
            count += tag == 5 || tag == 6 ? 1 : 0;
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

    /** The text with this number. */
    String text(int number) {
        return texts.get(number);
    }

    /** The number of a text. */
    int text(String text) throws IOException {
        Integer known = numbers.get(text);
        if (known != null) {
            return known;
        }
        out.writeByte(1);
        out.writeUTF(text);
        numbers.put(text, count);
        return added();
    }

    /** The number of a static method. */
    int method(String owner, String name, String descriptor) throws IOException {
        int type = text(owner);
        out.writeByte(7);
        out.writeShort(type);
        int ownerNumber = added();
        int nameNumber = text(name);
        int descriptorNumber = text(descriptor);
        out.writeByte(12);
        out.writeShort(nameNumber);
        out.writeShort(descriptorNumber);
        int pair = added();
        out.writeByte(10);
        out.writeShort(ownerNumber);
        out.writeShort(pair);
        return added();
    }

    private int added() throws IOException {
        if (count >= 0xffff) {
            throw new CodeEditor.TooLong();
        }
        return count++;
    }

    void write(DataOutputStream to) throws IOException {
        to.writeShort(count);
        bytes.writeTo(to);
    }
}
