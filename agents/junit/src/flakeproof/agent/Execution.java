package flakeproof.agent;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** One run of one test, and what became of it. */
public final class Execution {
    /** From the mildest to the one that counts most. */
    private static final List<String> WEIGHTS =
            Arrays.asList("skipped", "passed", "errored", "failed");

    /** The test. */
    public final Test test;

    boolean isSent;
    private boolean hasStarted;
    private String outcome;
    private String note;
    private Map<String, Object> failure;
    private double seconds;
    private String calledWith;

    Execution(Test test) {
        this.test = test;
    }

    /** Whether the test itself started, and not only what is set up before it. */
    public boolean hasStarted() {
        return hasStarted;
    }

    /** Notes what this invocation was called with, which in another JVM may have another number. */
    public void calledWith(String values) {
        calledWith = values;
    }

    /** Whether its outcome is known. */
    public boolean hasEnded() {
        return outcome != null;
    }

    boolean hasFailed() {
        return "failed".equals(outcome) || "errored".equals(outcome);
    }

    void start() {
        hasStarted = true;
    }

    /** Adds what happened; of several things the worst is the outcome, the first its reason. */
    void end(String what, String remark, Map<String, Object> reason, double duration) {
        seconds = Math.max(seconds, duration);
        note = note == null ? remark : note;
        if (failure != null && reason != null) {
            reason.put("text", join(failure, reason));
        }
        if (outcome == null || WEIGHTS.indexOf(what) > WEIGHTS.indexOf(outcome)) {
            outcome = what;
            failure = reason == null ? failure : reason;
        } else if (failure != null && reason != null) {
            failure.put("text", reason.get("text"));
        }
    }

    void remark(String remark) {
        note = note == null ? remark : note + "; " + remark;
    }

    Map<String, Object> message(String output) {
        return Json.map(
                "say", "result",
                "test", test.index,
                "outcome", outcome,
                "seconds", seconds,
                "note", note,
                "failure", failure,
                "output", output,
                "case", calledWith);
    }

    private static String join(Map<String, Object> first, Map<String, Object> second) {
        return first.get("text") + "\n\nIn " + second.get("phase") + ":\n" + second.get("text");
    }
}
