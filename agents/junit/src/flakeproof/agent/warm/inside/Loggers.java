package flakeproof.agent.warm.inside;

import java.util.Collections;
import java.util.logging.LogManager;
import java.util.logging.Logger;

/** The loggers of {@code java.util.logging}: levels, handlers, filters. */
final class Loggers implements PutBack.Part {
    private LogManager manager;

    @Override
    public void remember() {
        manager = LogManager.getLogManager();
    }

    @Override
    public String putBack() throws Exception {
        for (String name : Collections.list(manager.getLoggerNames())) {
            Logger logger = manager.getLogger(name);
            if (logger != null) {
                logger.setFilter(null);
                logger.setUseParentHandlers(true);
            }
        }
        manager.readConfiguration();
        return null;
    }
}
