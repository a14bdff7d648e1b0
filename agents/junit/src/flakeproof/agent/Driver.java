package flakeproof.agent;

import java.util.List;

/** Finds and runs the tests of one framework. */
public interface Driver {
    /** The framework and its version. */
    String describe();

    /** Whether this driver gave out this handle. */
    boolean owns(String handle);

    /** Adds all tests of the suite, in the order in which the framework would run them. */
    void collect(Suite suite);

    /** What is set up once for consecutive tests: the same text for tests that share it. */
    String group(String handle);

    /**
     * Runs tests of one group in exactly this order, and no other test.
     *
     * <p>What it throws is the fate of those tests that were not reported yet.
     */
    void run(List<Execution> group, Report report);

    /** Ends what lives as long as the JVM. */
    default void close() {}
}
