package flakeproof.agent.dynamic58;

import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;

/**
 * Skips the bodies of dynamic tests, while they are only counted.
 *
 * <p>Conditions do not apply to dynamic tests. Needs junit-jupiter-api 5.8 or newer.
 */
public final class NoDynamicTestRuns implements InvocationInterceptor {
    @Override
    public void interceptDynamicTest(
            Invocation<Void> invocation,
            DynamicTestInvocationContext dynamicTest,
            ExtensionContext context) {
        invocation.skip();
    }
}
