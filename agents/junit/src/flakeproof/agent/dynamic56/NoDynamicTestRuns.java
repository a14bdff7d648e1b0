package flakeproof.agent.dynamic56;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;

/**
 * Skips the bodies of dynamic tests, while they are only counted.
 *
 * <p>Conditions do not apply to dynamic tests. Needs junit-jupiter-api from 5.6 to 5.7; the newer
 * ones call another method, which JUnit 6 alone keeps.
 */
public final class NoDynamicTestRuns implements InvocationInterceptor {
    @Override
    public void interceptDynamicTest(Invocation<Void> invocation, ExtensionContext context) {
        invocation.skip();
    }
}
