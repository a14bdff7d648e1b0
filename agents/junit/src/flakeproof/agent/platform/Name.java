package flakeproof.agent.platform;

import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * How people call a test: {@code com.acme.FooTest$Inner#bar(int, String)[1]}.
 *
 * <p>Jupiter's unique ids say it all. For other engines it is made from the sources of the test and
 * of what it is in, and from the names that are displayed.
 */
final class Name {
    /** The binary name of the class. */
    final String type;

    /** The method; empty where a whole class is one test. */
    final String method;

    /** What stands between the class and the method: the invocation of a class template. */
    private final String classInvocation;

    /** Whether Jupiter runs it. */
    final boolean isJupiter;

    /** Whether the tests below it are known only when it runs. */
    final boolean isTemplate;

    private Name(String type, String classInvocation, String method, boolean isJupiter,
            boolean isTemplate) {
        this.type = type;
        this.classInvocation = classInvocation;
        this.method = method;
        this.isJupiter = isJupiter;
        this.isTemplate = isTemplate;
    }

    static Name of(TestPlan plan, TestIdentifier test) {
        List<UniqueId.Segment> segments = UniqueId.parse(test.getUniqueId()).getSegments();
        int engine = 0;
        for (int i = 0; i < segments.size(); i++) {
            engine = segments.get(i).getType().equals("engine") ? i : engine;
        }
        if (segments.get(engine).getValue().equals("junit-jupiter")) {
            return ofJupiter(segments.subList(engine + 1, segments.size()));
        }
        return ofOther(plan, test);
    }

    /** What an invocation displays besides its number; null for what is invoked only once. */
    static String withoutNumber(TestIdentifier test) {
        List<UniqueId.Segment> segments = UniqueId.parse(test.getUniqueId()).getSegments();
        boolean isNumbered = segments.get(segments.size() - 1).getValue().startsWith("#");
        return isNumbered ? test.getDisplayName().replaceFirst("^\\[\\d+]\\s*", "") : null;
    }

    String id() {
        return type + classInvocation + (method.isEmpty() ? "" : "#" + method);
    }

    private static Name ofJupiter(List<UniqueId.Segment> segments) {
        StringBuilder type = new StringBuilder();
        StringBuilder classInvocation = new StringBuilder();
        StringBuilder method = new StringBuilder();
        boolean isTemplate = false;
        for (UniqueId.Segment segment : segments) {
            String kind = segment.getType();
            String value = segment.getValue();
            isTemplate = isTemplate(kind);
            if (kind.startsWith("class-template-invocation")) {
                classInvocation.append(count(value));
            } else if (kind.startsWith("nested-class")) {
                type.append('$').append(value);
            } else if (kind.startsWith("class")) {
                type.append(value);
            } else if (value.startsWith("#")) {
                method.append(count(value));
            } else {
                method.append(signature(value));
            }
        }
        return new Name(type.toString(), classInvocation.toString(), method.toString(), true,
                isTemplate);
    }

    private static boolean isTemplate(String kind) {
        return kind.equals("test-template")
                || kind.equals("test-factory")
                || kind.equals("class-template")
                || kind.equals("nested-class-template");
    }

    private static String count(String value) {
        return "[" + value.replace("#", "") + "]";
    }

    /** A method with simple names of the types of its parameters; without any, its bare name. */
    private static String signature(String value) {
        int open = value.indexOf('(');
        if (open < 0 || value.endsWith("()")) {
            return open < 0 ? value : value.substring(0, open);
        }
        List<String> types = new ArrayList<>();
        for (String type : value.substring(open + 1, value.length() - 1).split(",")) {
            types.add(simple(type.trim()));
        }
        return value.substring(0, open) + "(" + String.join(", ", types) + ")";
    }

    private static String simple(String type) {
        int depth = type.lastIndexOf('[') + 1;
        String element = type.substring(depth);
        if (depth > 0) {
            int primitive = "ZBCSIJFD".indexOf(element);
            String[] names =
                    {"boolean", "byte", "char", "short", "int", "long", "float", "double"};
            boolean isClass = element.startsWith("L") || primitive < 0;
            element = isClass ? element.substring(1, element.length() - 1) : names[primitive];
        }
        int begin = Math.max(element.lastIndexOf('.'), element.lastIndexOf('$')) + 1;
        StringBuilder name = new StringBuilder(element.substring(begin));
        for (int i = 0; i < depth; i++) {
            name.append("[]");
        }
        return name.toString();
    }

    private static Name ofOther(TestPlan plan, TestIdentifier test) {
        String type = null;
        String method = null;
        for (TestIdentifier each = test; each != null && type == null; ) {
            TestSource source = each.getSource().orElse(null);
            if (source instanceof MethodSource) {
                type = ((MethodSource) source).getClassName();
                method = ((MethodSource) source).getMethodName();
            } else if (source instanceof ClassSource) {
                type = ((ClassSource) source).getClassName();
            }
            each = plan.getParent(each).orElse(null);
        }
        boolean isClass = test.getSource().orElse(null) instanceof ClassSource;
        if (type == null) {
            type = plan.getParent(test).map(TestIdentifier::getDisplayName).orElse("");
        }
        if (method == null) {
            method = isClass ? "" : test.getDisplayName();
        }
        return new Name(type, "", method, false, false);
    }
}
