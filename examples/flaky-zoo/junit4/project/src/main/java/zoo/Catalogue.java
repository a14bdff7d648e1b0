package zoo;

import java.util.ArrayList;
import java.util.List;

/** The catalogue, parsed once and kept. */
public final class Catalogue {
    private static final List<String> ROWS = List.of("apple;0.40", "bread;2.50", "tea;3,20");
    private static final List<String> NAMES = new ArrayList<>();

    private Catalogue() {}

    public static List<String> names() {
        if (NAMES.isEmpty()) {
            ROWS.forEach(row -> NAMES.add(row.split(";")[0]));
        }
        return NAMES;
    }
}
