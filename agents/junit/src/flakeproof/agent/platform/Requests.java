package flakeproof.agent.platform;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import flakeproof.agent.Execution;
import flakeproof.agent.Settings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/** Asks the launcher for classes or for tests, under the project's own configuration. */
final class Requests {
    private static final String VINTAGE = "org.junit.vintage.engine.VintageTestEngine";

    private final Settings settings;

    Requests(Settings settings) {
        this.settings = settings;
    }

    /** These classes, as the build tool would ask for them. */
    LauncherDiscoveryRequest ofClasses(Collection<Class<?>> classes) {
        LauncherDiscoveryRequestBuilder builder = builder();
        for (Class<?> type : classes) {
            builder.selectors(selectClass(type));
        }
        if (isThere(VINTAGE)) {
            builder.filters(EngineFilter.excludeEngines("junit-vintage"));
        }
        if (!settings.groups.isEmpty()) {
            builder.filters(TagFilter.includeTags(expressions(settings.groups)));
        }
        if (!settings.excludedGroups.isEmpty()) {
            builder.filters(TagFilter.excludeTags(expressions(settings.excludedGroups)));
        }
        return builder.build();
    }

    /** These tests, in this order. */
    LauncherDiscoveryRequest of(List<Execution> executions) {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (Execution execution : executions) {
            selectors.add(selectUniqueId(execution.test.handle));
        }
        return builder().selectors(selectors).build();
    }

    /** These containers, whose tests are to be found and not to be run. */
    LauncherDiscoveryRequest toExpand(Collection<String> uniqueIds) {
        LauncherDiscoveryRequestBuilder builder = builder();
        for (String uniqueId : uniqueIds) {
            builder.selectors(selectUniqueId(uniqueId));
        }
        builder.configurationParameter(Expansion.AUTODETECTION, "true");
        return builder.build();
    }

    private LauncherDiscoveryRequestBuilder builder() {
        return LauncherDiscoveryRequestBuilder.request()
                // Whole stacks tell set-up from test; they are trimmed afterwards.
                .configurationParameter("junit.platform.stacktrace.pruning.enabled", "false")
                .configurationParameters(settings.parameters)
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false");
    }

    private static List<String> expressions(String groups) {
        List<String> expressions = new ArrayList<>();
        for (String each : groups.split(",")) {
            if (!each.trim().isEmpty()) {
                expressions.add(each.trim());
            }
        }
        return expressions;
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name, false, Requests.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }
}
