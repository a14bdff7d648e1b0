package demo;

import org.junit.runner.Description;
import org.junit.runner.RunWith;
import org.junit.runner.Runner;
import org.junit.runner.notification.RunNotifier;

/** A class whose runner runs all its tests or none. */
@RunWith(Stubborn.AllOrNothing.class)
public class Stubborn {
    public static class AllOrNothing extends Runner {
        private final Description description;

        public AllOrNothing(Class<?> type) {
            description = Description.createSuiteDescription(type);
            description.addChild(Description.createTestDescription(type, "one"));
            description.addChild(Description.createTestDescription(type, "two"));
        }

        @Override
        public Description getDescription() {
            return description;
        }

        @Override
        public void run(RunNotifier notifier) {
            for (Description each : description.getChildren()) {
                notifier.fireTestStarted(each);
                notifier.fireTestFinished(each);
            }
        }
    }
}
