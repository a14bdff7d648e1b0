package flakeproof.agent.jupiter;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips every test method, while invocations are only counted.
 *
 * <p>What is set up for each test is skipped with it; classes and templates are entered. Needs
 * junit-jupiter-api.
 */
public final class NoTestRuns implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String uniqueId = context.getUniqueId();
        String last = uniqueId.substring(uniqueId.lastIndexOf('/') + 1);
        boolean isTest =
                last.startsWith("[method:") || last.startsWith("[test-template-invocation:");
        return isTest
                ? ConditionEvaluationResult.disabled("only counted")
                : ConditionEvaluationResult.enabled("entered");
    }
}
