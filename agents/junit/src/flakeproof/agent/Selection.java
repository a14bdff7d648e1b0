package flakeproof.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Patterns {@code Class#method} of wanted tests, in which {@code *} stands for anything. */
public final class Selection {
    private final List<Pattern[]> patterns = new ArrayList<>();

    Selection(List<String> texts) {
        for (String text : texts) {
            int split = text.indexOf('#');
            String type = split < 0 ? text : text.substring(0, split);
            String method = split < 0 ? "*" : text.substring(split + 1);
            patterns.add(new Pattern[] {compiled(type), compiled(method)});
        }
    }

    /**
     * Whether a test is wanted.
     *
     * <p>{@code bar} selects all invocations of a parameterised {@code bar}; so the name is looked
     * at both as it is and without parameters and counts.
     */
    public boolean wants(String type, String method) {
        if (patterns.isEmpty()) {
            return true;
        }
        String bare = method.split("[\\[({]", 2)[0];
        for (Pattern[] pattern : patterns) {
            boolean isHere = pattern[0].matcher(type).matches();
            Pattern named = pattern[1];
            if (isHere && (named.matcher(method).matches() || named.matcher(bare).matches())) {
                return true;
            }
        }
        return false;
    }

    private static Pattern compiled(String wildcard) {
        StringBuilder expression = new StringBuilder();
        for (String part : wildcard.split("\\*", -1)) {
            expression.append(expression.length() == 0 ? "" : ".*").append(Pattern.quote(part));
        }
        return Pattern.compile(expression.toString(), Pattern.DOTALL);
    }
}
