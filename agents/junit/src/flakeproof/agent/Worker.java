package flakeproof.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Does what flakeproof asks for, one command after another. */
final class Worker {
    private final Link link;
    private final Output output;
    private final Settings settings;
    private final Drivers drivers;
    private Suite suite = new Suite();
    private List<Test> order = new ArrayList<>();
    private boolean isMeasured;

    /** Looks at what tests left behind; null where that cannot be seen. */
    private final Supplier<Map<String, Object>> look;

    Worker(
            Link link,
            Output output,
            Settings settings,
            Drivers drivers,
            Supplier<Map<String, Object>> look) {
        this.look = look;
        this.link = link;
        this.output = output;
        this.settings = settings;
        this.drivers = drivers;
    }

    /** Obeys until it is told to stop; true if another environment is to begin. */
    boolean obey() throws InterruptedException {
        while (true) {
            Map<String, Object> command = link.receive();
            switch (String.valueOf(command.get("do"))) {
                case "collect":
                    collect(command.get("only"));
                    break;
                case "order":
                    announce(Json.array(command.get("tests")));
                    break;
                case "run":
                    count(command);
                    runFrom(Json.integer(command.get("from")));
                    break;
                case "rerun":
                    count(command);
                    List<Test> one = new ArrayList<>();
                    one.add(suite.get(Json.integer(command.get("test"))));
                    runGroup(one);
                    pause();
                    break;
                case "look":
                    look();
                    break;
                case "renew":
                    drivers.all().forEach(Driver::close);
                    return true;
                case "bye":
                    drivers.all().forEach(Driver::close);
                    return false;
                default:
                    link.trouble("the command " + command.get("do") + " is unknown");
            }
        }
    }

    private void look() {
        if (look == null) {
            link.trouble("what tests leave behind is seen in warm JVMs only");
            return;
        }
        Map<String, Object> seen = look.get();
        seen.put("say", "state");
        link.send(seen);
    }

    private void collect(Object only) {
        suite = new Suite();
        if (only == null) {
            drivers.all().forEach(driver -> driver.collect(suite));
        } else {
            for (Object each : Json.array(only)) {
                Map<String, Object> wanted = Json.object(each);
                suite.add(String.valueOf(wanted.get("id")), String.valueOf(wanted.get("file")));
            }
        }
        link.send(suite.message());
    }

    private void announce(List<Object> indices) {
        order = new ArrayList<>();
        for (Object index : indices) {
            order.add(suite.get(Json.integer(index)));
        }
        link.send(Json.map("say", "ready"));
    }

    private void count(Map<String, Object> command) {
        System.setProperty(settings.attemptProperty, String.valueOf(command.get("attempt")));
        isMeasured = Boolean.TRUE.equals(command.get("measure"));
    }

    private void runFrom(int from) {
        for (int begin = from, end; begin < order.size(); begin = end) {
            end = endOfGroup(begin);
            boolean hasFailed = runGroup(order.subList(begin, end));
            if (link.isToldToStop() || hasFailed) {
                break;
            }
        }
        pause();
    }

    private int endOfGroup(int begin) {
        String group = group(order.get(begin));
        int end = begin + 1;
        while (end < order.size() && group(order.get(end)).equals(group)) {
            end++;
        }
        return end;
    }

    private String group(Test test) {
        Driver driver = drivers.of(test.handle);
        return driver == null ? test.handle : driver.group(test.handle);
    }

    /** Runs tests that share their class; true if one of them failed. */
    private boolean runGroup(List<Test> tests) {
        List<Execution> executions = new ArrayList<>();
        for (Test test : tests) {
            executions.add(new Execution(test));
        }
        Report report = new Report(link, output, isMeasured);
        report.expects(executions.get(0));
        List<Execution> waiting = new ArrayList<>(executions);
        while (!waiting.isEmpty()) {
            attempt(waiting, report);
            waiting = unended(waiting);
        }
        report.settle(executions);
        return report.hasFailed();
    }

    /**
     * Runs tests until all have ended, or until one breaks the framework that runs it.
     *
     * <p>JUnit lets an {@code OutOfMemoryError} through, for example. That is the failure of the
     * test that ran, and the others have to be run all the same.
     */
    private void attempt(List<Execution> executions, Report report) {
        try {
            Driver driver = drivers.of(executions.get(0).test.handle);
            if (driver != null) {
                driver.run(executions, report);
            }
            report.settle(executions);
        } catch (Throwable cause) {
            List<Execution> unended = unended(executions);
            boolean isRunning = false;
            for (Execution execution : unended) {
                if (execution.hasStarted()) {
                    isRunning = true;
                    report.failed(execution, Phase.CALL, cause);
                }
            }
            boolean hasEnded = unended.size() < executions.size();
            if (!isRunning && hasEnded) {
                // It broke while it dealt with the latest one; those after it have their own try.
                report.tearDownFailed(cause);
            } else if (!isRunning) {
                report.setUpFailed(unended, cause);
            }
        }
    }

    /** Those that have not ended. A loop: for a lambda expression a test may have left no memory. */
    private static List<Execution> unended(List<Execution> executions) {
        List<Execution> unended = new ArrayList<>();
        for (Execution execution : executions) {
            if (!execution.hasEnded()) {
                unended.add(execution);
            }
        }
        return unended;
    }

    private void pause() {
        link.send(Json.map("say", "paused"));
    }
}
