package flakeproof.agent;

import java.util.ArrayList;
import java.util.List;

/**
 * The drivers that a suite needs, loaded by name.
 *
 * <p>A driver is compiled only where its framework is on the class path, so nothing here may refer
 * to one. JUnit's Vintage engine runs JUnit 4 tests in its own order only; the JUnit 4 driver takes
 * its place.
 */
final class Drivers {
    private static final String PLATFORM = "flakeproof.agent.platform.PlatformDriver";
    private static final String JUNIT4 = "flakeproof.agent.junit4.Junit4Driver";
    private static final String TESTNG = "flakeproof.agent.testng.TestngDriver";
    private static final String VINTAGE = "org.junit.vintage.engine.VintageTestEngine";

    private final List<Driver> drivers = new ArrayList<>();
    private String trouble;

    private Drivers() {}

    static Drivers load(Settings settings) {
        Drivers loaded = new Drivers();
        if (settings.framework.equals("platform")) {
            loaded.add(PLATFORM, settings);
            if (isThere(VINTAGE)) {
                loaded.add(JUNIT4, settings);
            }
        } else {
            loaded.add(settings.framework.equals("testng") ? TESTNG : JUNIT4, settings);
        }
        return loaded;
    }

    List<Driver> all() {
        return drivers;
    }

    /** The driver that gave out a handle; null if none did. */
    Driver of(String handle) {
        for (Driver driver : drivers) {
            if (driver.owns(handle)) {
                return driver;
            }
        }
        return null;
    }

    /** Why tests cannot run, if so. */
    String trouble() {
        return trouble;
    }

    /** The frameworks and their versions. */
    String describe() {
        List<String> texts = new ArrayList<>();
        for (Driver driver : drivers) {
            texts.add(driver.describe());
        }
        return String.join(", ", texts);
    }

    private void add(String name, Settings settings) {
        try {
            Class<?> type = Class.forName(name);
            drivers.add((Driver) type.getConstructor(Settings.class).newInstance(settings));
        } catch (ReflectiveOperationException | LinkageError missing) {
            trouble = "cannot use " + name + ": is its framework on the class path, in a version"
                    + " that it supports?\n" + Failures.text(missing);
        }
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name, false, Drivers.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }
}
