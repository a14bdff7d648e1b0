package flakeproof.agent;

/**
 * Tells a failure to nobody, before the first test.
 *
 * <p>A test may leave no memory for further classes, and its failure has to be told all the same. So
 * everything that takes is loaded by then.
 */
final class Rehearsal {
    private Rehearsal() {}

    static void tellAFailure() {
        Throwable cause = new IllegalStateException("cause");
        Throwable failure = new RuntimeException("first line\nsecond line", cause);
        failure.addSuppressed(new OutOfMemoryError("suppressed"));
        Execution execution = new Execution(new Test(0, "Rehearsal#tests", "Rehearsal"));
        for (Phase phase : Phase.values()) {
            Failure told = new Failure(phase, failure, Rehearsal.class.getName());
            execution.end("failed", "note", told.message(), 0.1);
        }
        Json.write(execution.message("output"));
    }
}
