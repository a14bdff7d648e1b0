package flakeproof.agent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON: maps, lists, strings, numbers, booleans and null.
 *
 * <p>Numbers are read as {@code Long} where they are whole, and as {@code Double} otherwise.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The value that a text says. */
    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.skipSpace();
        if (reader.at != text.length()) {
            throw reader.broken("the end");
        }
        return value;
    }

    /** A map of these keys and values, in this order; keys whose value is null are left out. */
    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i + 1] != null) {
                map.put((String) pairs[i], pairs[i + 1]);
            }
        }
        return map;
    }

    /** The value as an object. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    /** The value as an array; none for null. */
    @SuppressWarnings("unchecked")
    static List<Object> array(Object value) {
        return value == null ? new ArrayList<>() : (List<Object>) value;
    }

    /** The value as a whole number. */
    static int integer(Object value) {
        return ((Number) value).intValue();
    }

    /** The text of a value, in one line. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            String between = "{";
            for (Map.Entry<String, Object> entry : object(value).entrySet()) {
                out.append(between);
                quote(out, entry.getKey());
                out.append(':');
                write(out, entry.getValue());
                between = ",";
            }
            out.append(between.equals("{") ? "{}" : "}");
        } else if (value instanceof Collection) {
            write(out, ((Collection<?>) value).toArray());
        } else if (value instanceof Object[]) {
            String between = "[";
            for (Object item : (Object[]) value) {
                out.append(between);
                write(out, item);
                between = ",";
            }
            out.append(between.equals("[") ? "[]" : "]");
        } else if (value instanceof CharSequence) {
            quote(out, value.toString());
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each == '"' || each == '\\') {
                out.append('\\').append(each);
            } else if (each < ' ') {
                out.append(String.format("\\u%04x", (int) each));
            } else if (isHalf(text, i)) {
                // Half of a character is no text: it could not be written as UTF-8.
                out.append('\ufffd');
            } else {
                out.append(each);
            }
        }
        out.append('"');
    }

    private static boolean isHalf(String text, int i) {
        char each = text.charAt(i);
        if (Character.isHighSurrogate(each)) {
            return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        }
        boolean isPaired = i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
        return Character.isLowSurrogate(each) && !isPaired;
    }

    private Object value() {
        skipSpace();
        switch (at < text.length() ? text.charAt(at) : ' ') {
            case '{':
                return readObject();
            case '[':
                return readArray();
            case '"':
                return readString();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return readNumber();
        }
    }

    private Map<String, Object> readObject() {
        Map<String, Object> map = new LinkedHashMap<>();
        at++;
        if (takes('}')) {
            return map;
        }
        do {
            skipSpace();
            String key = readString();
            expect(':');
            map.put(key, value());
        } while (takes(','));
        expect('}');
        return map;
    }

    private List<Object> readArray() {
        List<Object> list = new ArrayList<>();
        at++;
        if (takes(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (takes(','));
        expect(']');
        return list;
    }

    private String readString() {
        StringBuilder out = new StringBuilder();
        expect('"');
        for (; at < text.length() && text.charAt(at) != '"'; at++) {
            out.append(text.charAt(at) == '\\' ? escaped() : text.charAt(at));
        }
        expect('"');
        return out.toString();
    }

    private char escaped() {
        char kind = ++at < text.length() ? text.charAt(at) : ' ';
        int plain = "\"\\/bfnrt".indexOf(kind);
        if (plain >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (kind != 'u' || at + 4 >= text.length()) {
            throw broken("an escape");
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 3, at + 1), 16);
    }

    private Number readNumber() {
        int begin = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(begin, at);
        try {
            boolean isWhole = digits.matches("-?[0-9]+");
            return isWhole ? (Number) Long.valueOf(digits) : (Number) Double.valueOf(digits);
        } catch (NumberFormatException wrong) {
            throw broken("a value");
        }
    }

    private Object word(String word, Object meaning) {
        if (!text.startsWith(word, at)) {
            throw broken(word);
        }
        at += word.length();
        return meaning;
    }

    private boolean takes(char wanted) {
        skipSpace();
        boolean isThere = at < text.length() && text.charAt(at) == wanted;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void expect(char wanted) {
        if (!takes(wanted)) {
            throw broken("'" + wanted + "'");
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException broken(String expected) {
        return new IllegalArgumentException("no JSON: expected " + expected + " at " + at);
    }
}
