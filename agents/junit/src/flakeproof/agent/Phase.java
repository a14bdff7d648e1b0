package flakeproof.agent;

/** Where in a test's life something went wrong. */
public enum Phase {
    /** Before the test. */
    SETUP,
    /** In the test itself. */
    CALL,
    /** After the test. */
    TEARDOWN;

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
