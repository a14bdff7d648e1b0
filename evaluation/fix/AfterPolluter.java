import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;

/**
 * Which tests of a JUnit 4 class fail after one of them, and pass before it: without flakeproof.
 *
 * <p>{@code java -cp CLASSPATH AfterPolluter.java CLASS POLLUTER}
 */
public class AfterPolluter {
    public static void main(String[] words) throws Exception {
        Class<?> tests = Class.forName(words[0]);
        List<String> before = new ArrayList<>();
        List<String> after = new ArrayList<>();
        for (java.lang.reflect.Method method : tests.getMethods()) {
            if (method.isAnnotationPresent(Test.class) && !method.getName().equals(words[1])) {
                before.add(method.getName());
            }
        }
        before.sort(null);
        before.removeIf(name -> !passes(tests, name));
        for (String name : before) {
            passes(tests, words[1]);
            if (!passes(tests, name)) {
                after.add(name);
            }
        }
        System.out.println(after.size() + " of " + before.size() + " fail after " + words[1]);
        after.forEach(System.out::println);
    }

    private static boolean passes(Class<?> tests, String name) {
        return new JUnitCore().run(Request.method(tests, name)).wasSuccessful();
    }
}
