package flakeproof.agent.platform;

import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The launcher, and the session that lives as long as this JVM.
 *
 * <p>Sessions came with 1.8, so they are met by their name. Without one, a project's session
 * listeners would be opened and closed around each class.
 */
final class Session {
    private final AutoCloseable session;
    private final Launcher launcher;

    Session() {
        AutoCloseable opened = null;
        Launcher found = null;
        try {
            opened = (AutoCloseable) LauncherFactory.class.getMethod("openSession").invoke(null);
            Class<?> type = Class.forName("org.junit.platform.launcher.LauncherSession");
            found = (Launcher) type.getMethod("getLauncher").invoke(opened);
        } catch (NoSuchMethodException | ClassNotFoundException old) {
            found = LauncherFactory.create();
        } catch (ReflectiveOperationException broken) {
            throw new IllegalStateException("cannot open a session of JUnit", broken.getCause());
        }
        session = opened;
        launcher = found;
    }

    Launcher launcher() {
        return launcher;
    }

    void close() {
        try {
            if (session != null) {
                session.close();
            }
        } catch (Exception broken) {
            // A listener of the project failed, after all tests: there is nobody to tell.
            System.err.println(broken);
        }
    }
}
