package flakeproof.agent.warm;

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
}
