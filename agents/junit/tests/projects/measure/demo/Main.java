package demo;

import flakeproof.agent.measure.Measure;
import java.util.List;
import java.util.Map;

/** Prints what was measured, a line each. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        Measure measure = Measure.begin();
        new AllLines().all();
        Map<String, Object> seen = measure.end();
        List<?> files = (List<?>) seen.get("files");
        for (Object each : (List<?>) seen.get("lines")) {
            Object[] pair = (Object[]) each;
            System.out.println(files.get((Integer) pair[0]) + " " + pair[1]);
        }
        System.out.println("unknown " + seen.get("lines_unknown"));
        System.out.println("threads " + seen.get("max_threads"));
    }
}
