package flakeproof.agent.platform;

import flakeproof.agent.Phase;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Where a failure came from, read from its stack: the launcher does not tell.
 *
 * <p>The innermost frame of Jupiter's own that stands for a phase decides. Without any (another
 * engine, another thread) it is the test's.
 */
final class Phases {
    private static final String JUPITER = "org.junit.jupiter.engine.";

    private Phases() {}

    /** The phase in which this test, or this container that is run as one, failed. */
    static Phase of(TestIdentifier identifier, boolean hasRun, Throwable cause) {
        if (!identifier.isTest()) {
            return hasRun ? Phase.TEARDOWN : Phase.SETUP;
        }
        if (cause == null) {
            return Phase.CALL;
        }
        for (StackTraceElement frame : cause.getStackTrace()) {
            Phase phase = frame.getClassName().startsWith(JUPITER) ? of(frame) : null;
            if (phase != null) {
                return phase;
            }
        }
        return Phase.CALL;
    }

    private static Phase of(StackTraceElement frame) {
        String method = frame.getMethodName();
        if (method.contains("invokeTestMethod")) {
            return Phase.CALL;
        }
        if (method.contains("invokeBefore")
                || method.contains("nstantiate")
                || method.contains("prepare")) {
            return Phase.SETUP;
        }
        return method.contains("invokeAfter") ? Phase.TEARDOWN : null;
    }
}
