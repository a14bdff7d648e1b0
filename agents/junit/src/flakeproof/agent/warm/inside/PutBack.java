package flakeproof.agent.warm.inside;

import flakeproof.agent.warm.JdkState;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;

/**
 * Puts the JDK's own state back.
 *
 * <p>It lives in a loader of its own, to which the JDK's packages are open. What cannot be put back
 * is told, and that JVM is used no more.
 */
public final class PutBack implements JdkState {
    private final List<Part> parts = new ArrayList<>();
    private final Instrumentation instrumentation;
    private final Statics statics = new Statics();
    private final Loggers loggers = new Loggers();
    private Properties properties;

    /** Called by name, because no other class sees this one. */
    public PutBack(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    @Override
    public void remember() {
        properties = (Properties) System.getProperties().clone();
        parts.add(new CommonPool());
        parts.add(statics);
        parts.add(new Contents());
        parts.add(loggers);
        parts.add(new Leftovers());
        parts.add(new Natives());
        for (Part part : parts) {
            part.remember();
        }
    }

    @Override
    public String putBack() {
        // Objects of the tests are called below, and these may throw anything.
        try {
            if (System.getSecurityManager() != null) {
                return "a test installed a security manager";
            }
            System.setProperties((Properties) properties.clone());
            TimeZone.setDefault(null);
            for (Part part : parts) {
                String why = part.putBack();
                if (why != null) {
                    return why;
                }
            }
            return null;
        } catch (Throwable broken) {
            return "the JDK's state cannot be put back: " + broken;
        }
    }

    @Override
    public Map<String, Object> look(ClassLoader tests, ClassLoader anew, ThreadGroup group) {
        Picture picture = new Picture();
        picture.properties(properties);
        statics.describe(picture);
        picture.defaults(properties);
        loggers.describe(picture);
        picture.threads(group);
        // Last, because it runs initialisers of the project.
        new StaticFields(instrumentation, picture).describe(tests, anew);
        return picture.message();
    }

    /** One kind of state. */
    interface Part {
        void remember();

        /** Puts it back; gives the reason why that is not possible, if so. */
        String putBack() throws Exception;
    }
}
