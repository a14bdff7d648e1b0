package flakeproof.agent;

import java.util.Map;

/** What went wrong in an execution. */
final class Failure {
    private final Phase phase;
    private final Throwable cause;
    private final String type;

    Failure(Phase phase, Throwable cause, String type) {
        this.phase = phase;
        this.cause = cause;
        this.type = type;
    }

    Map<String, Object> message() {
        StackTraceElement place = place();
        boolean isPlaced = place != null && place.getFileName() != null;
        return Json.map(
                "phase", phase.toString(),
                "message", Failures.firstLine(Failures.header(cause)),
                "text", Failures.text(cause),
                "file", isPlaced ? path(place) : null,
                "line", isPlaced && place.getLineNumber() > 0 ? place.getLineNumber() : null);
    }

    /** The innermost frame in the test's own class, or else in code of the project. */
    private StackTraceElement place() {
        StackTraceElement[] frames = cause.getStackTrace();
        String outermost = outermost(type);
        for (StackTraceElement frame : frames) {
            if (outermost(frame.getClassName()).equals(outermost)) {
                return frame;
            }
        }
        for (StackTraceElement frame : frames) {
            if (!Failures.isForeign(frame)) {
                return frame;
            }
        }
        return frames.length == 0 ? null : frames[0];
    }

    private static String outermost(String type) {
        int nested = type.indexOf('$');
        return nested < 0 ? type : type.substring(0, nested);
    }

    private static String path(StackTraceElement frame) {
        String type = frame.getClassName();
        String folder = type.substring(0, type.lastIndexOf('.') + 1).replace('.', '/');
        return folder + frame.getFileName();
    }
}
