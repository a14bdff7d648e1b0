package flakeproof.agent.platform;

import flakeproof.agent.Driver;
import flakeproof.agent.Execution;
import flakeproof.agent.Phase;
import flakeproof.agent.Pieces;
import flakeproof.agent.Report;
import flakeproof.agent.Settings;
import flakeproof.agent.Suite;
import java.util.Collections;
import java.util.List;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;

/**
 * The JUnit Platform: Jupiter and any other engine, driven by unique ids.
 *
 * <p>Needs junit-platform-launcher 1.3 or newer.
 */
public final class PlatformDriver implements Driver {
    private final Requests requests;
    private final Settings settings;
    private Session session;

    /** A driver for a suite. */
    public PlatformDriver(Settings settings) {
        this.settings = settings;
        requests = new Requests(settings);
    }

    @Override
    public String describe() {
        String platform = Launcher.class.getPackage().getImplementationVersion();
        String text = "JUnit Platform " + (platform == null ? "" : platform);
        try {
            ClassLoader loader = getClass().getClassLoader();
            String name = "org.junit.jupiter.engine.JupiterTestEngine";
            String jupiter =
                    Class.forName(name, true, loader).getPackage().getImplementationVersion();
            return text.trim() + ", Jupiter " + (jupiter == null ? "" : jupiter);
        } catch (ClassNotFoundException | LinkageError none) {
            return text.trim();
        }
    }

    @Override
    public boolean owns(String handle) {
        return handle.startsWith("[engine:");
    }

    /** The engine and the outermost class, whose set-up its nested classes share. */
    @Override
    public String group(String handle) {
        List<UniqueId.Segment> segments = UniqueId.parse(handle).getSegments();
        return segments.size() < 2 ? handle : segments.get(0) + "/" + segments.get(1);
    }

    @Override
    public void collect(Suite suite) {
        new Search(settings, requests, suite).collect(launcher());
    }

    @Override
    public void run(List<Execution> group, Report report) {
        LauncherDiscoveryRequest request = requests.of(group);
        if (group.size() > 1) {
            Plan plan = plan(request, group);
            if (plan == null) {
                // One of them cannot be found, and keeps the others from being found.
                group.forEach(one -> run(Collections.singletonList(one), report));
                return;
            }
            List<List<Execution>> pieces = Pieces.rising(group, plan::position);
            if (pieces.size() > 1) {
                // The class has an order of its own: then it is set up more than once.
                pieces.forEach(piece -> run(piece, report));
                return;
            }
        }
        execute(request, group, report);
        report.settle(group);
    }

    /** Executes a request; one that cannot be resolved must not end the requests after it. */
    private void execute(
            LauncherDiscoveryRequest request, List<Execution> group, Report report) {
        try {
            launcher().execute(request, new Listener(group, report));
        } catch (RuntimeException | LinkageError broken) {
            for (Execution execution : group) {
                if (!execution.hasEnded()) {
                    report.failed(execution, Phase.SETUP, broken);
                }
            }
        }
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
    }

    /** The plan for a group; null if one of its tests cannot be found. */
    private Plan plan(LauncherDiscoveryRequest request, List<Execution> group) {
        try {
            String handle = group.get(0).test.handle;
            boolean isUnsure = handle.contains("[class-template-invocation:")
                    && MethodOrder.isGiven(settings, group.get(0).test.type());
            return new Plan(launcher().discover(request), isUnsure);
        } catch (RuntimeException | LinkageError unresolved) {
            return null;
        }
    }

    private Launcher launcher() {
        if (session == null) {
            session = new Session();
        }
        return session.launcher();
    }
}
