package flakeproof.agent.warm;

import java.util.Map;

/** The JDK's own state, as it was when the JVM was young. */
public interface JdkState {
    /** Remembers the state that environments begin with. */
    void remember();

    /**
     * Puts everything back that can be.
     *
     * @return why this JVM is not as a new one any more; null if it is
     */
    String putBack();

    /**
     * What tests can leave behind, as it is now, and what it was at its own beginning.
     *
     * @param tests the loader of the environment
     * @param anew another loader of the same classes, in which they are initialised to compare
     * @param group the thread group of the environment
     */
    Map<String, Object> look(ClassLoader tests, ClassLoader anew, ThreadGroup group);
}
