package flakeproof.agent.platform;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The project's {@code junit-platform.properties}, for what the launcher does not tell. */
final class PlatformProperties {
    private PlatformProperties() {}

    static String get(String key) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try (InputStream stream = loader.getResourceAsStream("junit-platform.properties")) {
            Properties properties = new Properties();
            if (stream != null) {
                properties.load(stream);
            }
            return properties.getProperty(key);
        } catch (IOException | IllegalArgumentException unreadable) {
            return null;
        }
    }
}
