package flakeproof.agent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An expression over groups, as Surefire takes it: names joined by {@code ,} {@code ||} {@code |}
 * {@code OR}, {@code &&} {@code &} {@code AND}, {@code !} {@code NOT}, with parentheses.
 */
public final class Groups {
    private static final Pattern TOKEN =
            Pattern.compile("\\s*(any\\(\\)|none\\(\\)|&&?|\\|\\|?|[,!()]|[^\\s,!()&|]+)");

    private final List<String> tokens = new ArrayList<>();
    private int at;
    private Collection<String> present;

    private Groups(String expression) {
        Matcher matcher = TOKEN.matcher(expression);
        while (matcher.find()) {
            tokens.add(matcher.group(1));
        }
    }

    /** Whether a test in these groups is wanted. */
    public static boolean want(Settings settings, Collection<String> present) {
        boolean isIncluded =
                settings.groups.isEmpty() || new Groups(settings.groups).holdsFor(present);
        return isIncluded
                && (settings.excludedGroups.isEmpty()
                        || !new Groups(settings.excludedGroups).holdsFor(present));
    }

    private boolean holdsFor(Collection<String> groups) {
        present = groups;
        at = 0;
        return anyOf();
    }

    private boolean anyOf() {
        boolean holds = allOf();
        while (takes("|", "||", ",", "OR")) {
            holds |= allOf();
        }
        return holds;
    }

    private boolean allOf() {
        boolean holds = one();
        while (takes("&", "&&", "AND")) {
            holds &= one();
        }
        return holds;
    }

    private boolean one() {
        if (takes("!", "NOT")) {
            return !one();
        }
        if (takes("(")) {
            boolean holds = anyOf();
            takes(")");
            return holds;
        }
        if (at >= tokens.size()) {
            return false;
        }
        return isPresent(tokens.get(at++));
    }

    /** A category may be given without its package or outer class. */
    private boolean isPresent(String name) {
        if (name.equals("any()") || name.equals("none()")) {
            return present.isEmpty() == name.equals("none()");
        }
        String wanted = name.endsWith(".class") ? name.substring(0, name.length() - 6) : name;
        for (String group : present) {
            boolean isTail = group.endsWith("." + wanted) || group.endsWith("$" + wanted);
            if (group.equals(wanted) || isTail) {
                return true;
            }
        }
        return false;
    }

    private boolean takes(String... words) {
        for (String word : words) {
            if (at < tokens.size() && tokens.get(at).equals(word)) {
                at++;
                return true;
            }
        }
        return false;
    }
}
