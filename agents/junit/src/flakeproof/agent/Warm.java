package flakeproof.agent;

import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Environments one after another in this JVM, where it can do that.
 *
 * <p>What runs them is compiled only where the JDK is new enough, and so it is called by name.
 */
final class Warm {
    private static final String ENVIRONMENTS = "flakeproof.agent.warm.Environments";

    private Warm() {}

    /** Obeys in one environment after another, until it is told to stop. */
    static void obey(Link link, Output output, Settings settings) throws Throwable {
        Runnable streams = output::renew;
        Function<Supplier<Map<String, Object>>, Boolean> inside =
                look -> isWantedAnew(link, output, settings, look);
        Consumer<String> tell = why -> link.send(Json.map("say", "renewed", "reason", why));
        try {
            Class.forName(ENVIRONMENTS)
                    .getMethod(
                            "run", List.class, String.class, Runnable.class, Function.class,
                            Consumer.class)
                    .invoke(
                            null, settings.reloaded, settings.shownPath, streams, inside, tell);
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }

    /** One environment; true if another one is to follow. */
    private static boolean isWantedAnew(
            Link link, Output output, Settings settings, Supplier<Map<String, Object>> look) {
        try {
            return new Worker(link, output, settings, Drivers.load(settings), look).obey();
        } catch (OutOfMemoryError none) {
            Main.endWithoutMemory();
            return false;
        } catch (Throwable fault) {
            link.trouble(Failures.text(fault));
            return false;
        }
    }
}
