package flakeproof.agent.orders;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Shuffles the orders that the specification of the JDK leaves open: {@code -javaagent:JAR=SETTINGS}.
 *
 * <p>Its jar is on the path of the JDK's own loader, for the edited classes call it.
 */
public final class Agent {
    private Agent() {}

    /** Called by the JVM before the worker's own start. */
    public static void premain(String settings, Instrumentation instrumentation) throws Exception {
        open(instrumentation);
        Calls.read(settings);
        Orders.prepare();
        Edits edits = new Edits();
        List<Class<?>> edited = new ArrayList<>();
        for (String name : edits.classes()) {
            edited.add(Class.forName(name, false, null));
        }
        Transformer transformer = new Transformer(edits);
        instrumentation.addTransformer(transformer, true);
        try {
            retransform(instrumentation, edited);
        } finally {
            instrumentation.removeTransformer(transformer);
        }
        Orders.begin();
    }

    /** One by one: what one JDK does not let itself be changed must not keep the others as they are. */
    private static void retransform(Instrumentation instrumentation, List<Class<?>> edited) {
        for (Class<?> type : edited) {
            try {
                instrumentation.retransformClasses(type);
            } catch (UnmodifiableClassException | LinkageError unchanged) {
                System.err.println("flakeproof: the order of " + type.getName() + " stays: " + unchanged);
            }
        }
    }

    /** Lets this package see the JDK's collections, and them see it. */
    private static void open(Instrumentation instrumentation) {
        Module own = Agent.class.getModule();
        Set<Module> to = Collections.singleton(own);
        instrumentation.redefineModule(
                Object.class.getModule(), to, Collections.emptyMap(),
                Map.of("java.util", to, "java.util.concurrent", to), Collections.emptySet(),
                Collections.emptyMap());
    }

    /** Edits classes as they are asked for. */
    private static final class Transformer implements ClassFileTransformer {
        private final Edits edits;

        Transformer(Edits edits) {
            this.edits = edits;
        }

        @Override
        public byte[] transform(
                ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
            return loader == null && type != null ? edits.apply(type.getName(), bytes) : null;
        }
    }
}
