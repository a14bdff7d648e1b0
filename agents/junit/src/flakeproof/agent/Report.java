package flakeproof.agent;

import flakeproof.agent.measure.Measure;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Tells flakeproof what happens to the executions of one group, while it happens.
 *
 * <p>The latest result is held back until the next test begins or the group is torn down: what
 * fails in a teardown is the fault of the test before it, or cannot be told from it.
 */
public final class Report {
    private final Link link;
    private final Output output;
    private Execution current;
    private long begin = System.nanoTime();
    private boolean hasFailed;
    private final boolean isMeasured;

    /** What the current test uses; null where that is not asked for. */
    private Measure measure;

    Report(Link link, Output output, boolean isMeasured) {
        this.link = link;
        this.output = output;
        this.isMeasured = isMeasured;
    }

    /** Says which test is to blame for what happens from now on: it, or its set-up, begins. */
    public synchronized void expects(Execution execution) {
        if (current == execution) {
            return;
        }
        release();
        current = execution;
        output.begin();
        sayBegins(execution);
        measure = isMeasured ? Measure.begin() : null;
    }

    /** Says that the test itself begins. */
    public synchronized void begins(Execution execution) {
        boolean isNew = current != execution;
        expects(execution);
        if (!isNew && !execution.hasStarted()) {
            sayBegins(execution);
        }
        execution.start();
    }

    /** The test passed. */
    public synchronized void passed(Execution execution) {
        end(execution, "passed", null, null);
    }

    /** The test did not run to its end, and that is no failure. */
    public synchronized void skipped(Execution execution, String why) {
        end(execution, "skipped", why == null ? "" : Failures.firstLine(why), null);
    }

    /** The test, its set-up or its teardown failed. */
    public synchronized void failed(Execution execution, Phase phase, Throwable cause) {
        String outcome = phase == Phase.CALL ? "failed" : "errored";
        end(execution, outcome, null, new Failure(phase, cause, execution.test.type()));
    }

    /** What these tests share could not be set up: none of them can run. */
    public synchronized void setUpFailed(Collection<Execution> executions, Throwable cause) {
        for (Execution execution : executions) {
            failed(execution, Phase.SETUP, cause);
        }
    }

    /** What tests share could not be torn down: the latest of them is to blame. */
    public synchronized void tearDownFailed(Throwable cause) {
        if (current != null) {
            failed(current, Phase.TEARDOWN, cause);
        }
    }

    /** Adds a remark to the latest test. */
    public synchronized void remark(String text) {
        if (current != null) {
            current.remark(text);
        }
    }

    /** Nothing more happens to these tests: those that nothing was heard of did not run. */
    public synchronized void settle(List<Execution> executions) {
        for (Execution execution : executions) {
            if (!execution.hasEnded()) {
                String text = "the framework did not run " + execution.test.id
                        + (execution.hasStarted() ? " to its end" : ": it does not find it");
                failed(execution, Phase.SETUP, new TestNotRun(text));
            }
        }
        release();
        current = null;
    }

    /** Whether a test failed so far. */
    boolean hasFailed() {
        return hasFailed;
    }

    private void end(Execution execution, String outcome, String note, Failure failure) {
        double seconds = (System.nanoTime() - begin) / 1e9;
        Map<String, Object> reason = failure == null ? null : failure.message();
        if (!execution.isSent) {
            expects(execution);
            execution.end(outcome, note, reason, seconds);
        } else if (reason != null && current != null) {
            // It was reported as something better already; the failure must show all the same.
            current.end("errored", null, reason, seconds);
        }
    }

    private void release() {
        if (current != null && current.hasEnded() && !current.isSent) {
            current.isSent = true;
            hasFailed |= current.hasFailed();
            Map<String, Object> message = current.message(output.end());
            if (measure != null) {
                message.put("measured", measure.end());
            }
            link.send(message);
        }
    }

    private void sayBegins(Execution execution) {
        begin = System.nanoTime();
        link.send(Json.map("say", "begins", "test", execution.test.index));
    }

    /** The reason for a test that nothing was heard of. */
    private static final class TestNotRun extends RuntimeException {
        private static final long serialVersionUID = 1;

        TestNotRun(String text) {
            super(text, null, false, false);
        }

        @Override
        public String toString() {
            return getMessage();
        }
    }
}
