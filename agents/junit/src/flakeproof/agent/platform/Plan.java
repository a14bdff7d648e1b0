package flakeproof.agent.platform;

import flakeproof.agent.Execution;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Where in a discovered plan tests stand; they will run in that order.
 *
 * <p>What is in a class template is not planned. Jupiter runs it in the order in which it is
 * chosen, unless the class has an order of its own: that is unknown, and each test is run alone.
 */
final class Plan {
    private final Map<String, Integer> positions = new HashMap<>();
    private final boolean hasOwnOrder;

    /** The plan of a request for a group. */
    Plan(TestPlan plan, boolean hasOwnOrder) {
        this.hasOwnOrder = hasOwnOrder;
        plan.getRoots().forEach(root -> number(plan, root));
    }

    private void number(TestPlan plan, TestIdentifier here) {
        positions.put(here.getUniqueId(), positions.size());
        plan.getChildren(here).forEach(child -> number(plan, child));
    }

    /**
     * The position: of each part that the plan knows, and the counts of the invocations.
     *
     * <p>Null for what is not in the plan.
     */
    List<Integer> position(Execution execution) {
        List<Integer> position = new ArrayList<>();
        UniqueId here = null;
        Integer last = null;
        boolean isInTemplate = false;
        for (UniqueId.Segment segment : UniqueId.parse(execution.test.handle).getSegments()) {
            String value = segment.getValue();
            if (value.matches("#[0-9]+")) {
                position.add(Integer.parseInt(value.substring(1)));
                isInTemplate |= segment.getType().equals("class-template-invocation");
                continue;
            }
            here = here == null ? UniqueId.root(segment.getType(), value)
                    : here.append(segment.getType(), value);
            if (isInTemplate && !hasOwnOrder) {
                positions.putIfAbsent(here.toString(), positions.size());
            }
            last = positions.get(here.toString());
            position.add(last == null ? -1 : last);
        }
        return last == null ? null : position;
    }
}
