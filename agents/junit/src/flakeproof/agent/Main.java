package flakeproof.agent;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * A JVM that runs tests on request: {@code Main PORT TOKEN NAME SETTINGS}.
 *
 * <p>It connects to flakeproof on the loopback interface, says hello, and obeys. The tests run in
 * the main thread, as under the build tools; everything of the worker's own is a daemon.
 */
public final class Main {
    /** The version of the protocol. */
    private static final int PROTOCOL = 4;

    private Main() {}

    /** Connects, and works until it is told to stop. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 4) {
            System.err.println("usage: flakeproof.agent.Main PORT TOKEN NAME SETTINGS");
            System.exit(2);
        }
        Output output = Output.install();
        Link link = Link.connect(Integer.parseInt(arguments[0]));
        try {
            Path file = Paths.get(arguments[3]);
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            Settings settings = new Settings(Json.object(Json.parse(text)));
            Drivers drivers = Drivers.load(settings);
            Rehearsal.tellAFailure();
            hello(link, arguments, drivers.describe());
            if (drivers.trouble() != null) {
                link.trouble(drivers.trouble());
                return;
            }
            if (settings.isWarm()) {
                Warm.obey(link, output, settings);
            } else {
                new Worker(link, output, settings, drivers, null).obey();
            }
        } catch (OutOfMemoryError none) {
            endWithoutMemory();
        } catch (Throwable fault) {
            link.trouble(Failures.text(fault));
        }
        System.exit(0);
    }

    /** Ends the JVM because tests left no memory to go on with: that is a crash of theirs, no fault here. */
    static void endWithoutMemory() {
        try {
            System.err.println("The tests have left no memory in this JVM.");
        } finally {
            Runtime.getRuntime().halt(3);
        }
    }

    private static void hello(Link link, String[] arguments, String framework) {
        link.send(
                Json.map(
                        "say", "hello",
                        "name", arguments[2],
                        "token", arguments[1],
                        "pid", pid(),
                        "protocol", PROTOCOL,
                        "runtime", System.getProperty("java.version", ""),
                        "framework", framework,
                        "path", new Object[0]));
    }

    /** This process; Java 8 tells it only as part of a name. */
    private static long pid() {
        try {
            Class<?> handle = Class.forName("java.lang.ProcessHandle");
            Object current = handle.getMethod("current").invoke(null);
            return (Long) handle.getMethod("pid").invoke(current);
        } catch (ReflectiveOperationException old) {
            String name = java.lang.management.ManagementFactory.getRuntimeMXBean().getName();
            return Long.parseLong(name.substring(0, name.indexOf('@')));
        }
    }
}
