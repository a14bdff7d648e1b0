package flakeproof.agent.junit4;

import flakeproof.agent.Phase;

/**
 * Where a failure came from, read from its stack: JUnit 4 does not tell.
 *
 * <p>The innermost frame of JUnit's own that stands for a phase decides. Without any (a rule, a
 * thread of its own) it is the test's.
 */
final class Phases {
    private Phases() {}

    static Phase of(Throwable cause) {
        String caller = "";
        for (StackTraceElement frame : cause.getStackTrace()) {
            Phase phase = of(frame, caller);
            if (phase != null) {
                return phase;
            }
            caller = frame.getMethodName();
        }
        return Phase.CALL;
    }

    private static Phase of(StackTraceElement frame, String called) {
        String type = frame.getClassName().substring(frame.getClassName().lastIndexOf('.') + 1);
        String method = frame.getMethodName();
        if (type.equals("InvokeMethod") || type.equals("ExpectException")) {
            return Phase.CALL;
        }
        // Spring's statements are called alike.
        if (type.startsWith("RunBefore") || method.equals("runBefores")) {
            return Phase.SETUP;
        }
        if (type.startsWith("RunAfter") || method.equals("runAfters")) {
            return Phase.TEARDOWN;
        }
        if (type.equals("BlockJUnit4ClassRunner") && method.equals("createTest")) {
            return Phase.SETUP;
        }
        if (type.equals("TestCase") && method.equals("runTest")) {
            return Phase.CALL;
        }
        boolean isTestCase = type.equals("TestCase") && method.equals("runBare");
        return isTestCase || type.startsWith("ExternalResource") ? around(called) : null;
    }

    /** The phase of a method that is called before or after a test. */
    private static Phase around(String called) {
        if (called.equals("before") || called.equals("setUp")) {
            return Phase.SETUP;
        }
        return called.equals("after") || called.equals("tearDown") ? Phase.TEARDOWN : null;
    }
}
