package flakeproof.agent.warm.inside;

import java.io.IOException;
import java.util.Collections;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/** The loggers of {@code java.util.logging}: levels, handlers, filters. */
final class Loggers implements PutBack.Part {
    private LogManager manager;
    private String root;

    @Override
    public void remember() {
        manager = LogManager.getLogManager();
        root = textOf(manager.getLogger(""));
        configure();
    }

    @Override
    public String putBack() {
        for (String name : Collections.list(manager.getLoggerNames())) {
            Logger logger = manager.getLogger(name);
            if (logger != null) {
                logger.setFilter(null);
                logger.setUseParentHandlers(true);
            }
        }
        configure();
        return null;
    }

    /** Adds the loggers that are not as they begin. */
    void describe(Picture picture) {
        for (String name : Collections.list(manager.getLoggerNames())) {
            Logger logger = manager.getLogger(name);
            if (logger != null) {
                boolean isRoot = name.isEmpty();
                String before = isRoot ? root : text(null, 0, true);
                picture.changed("logger", isRoot ? "root" : name, before, textOf(logger));
            }
        }
    }

    /** Reads the configuration anew; a new JVM goes on without one that it cannot read. */
    private void configure() {
        try {
            manager.readConfiguration();
        } catch (IOException | RuntimeException unreadable) {
            manager.reset();
        }
    }

    private static String textOf(Logger logger) {
        boolean isPassedOn = logger.getUseParentHandlers();
        return text(logger.getLevel(), logger.getHandlers().length, isPassedOn);
    }

    private static String text(Level level, int handlers, boolean isPassedOn) {
        String text = "level " + (level == null ? "inherited" : level.getName());
        text += ", " + handlers + (handlers == 1 ? " handler" : " handlers");
        return isPassedOn ? text : text + ", not passed on";
    }
}
