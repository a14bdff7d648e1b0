package reference;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.ISourceFileCoverage;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataReader;
import org.jacoco.core.data.ExecutionDataStore;
import org.junit.runner.Description;
import org.junit.runner.Result;
import org.junit.runner.notification.RunListener;

/**
 * Writes how many lines JaCoCo calls covered in each test, from its set-up to the end of its teardown,
 * and whether the test made a throwable: JaCoCo leaves the lines out that one passes through.
 */
public final class EachTest extends RunListener {
    private static final class Seen {
        byte[] data;
        java.time.Instant end;
    }

    private final Map<String, Seen> seen = new LinkedHashMap<>();
    private final Recording throwables = new Recording();
    private final java.time.Instant begin = java.time.Instant.now();
    private String current;

    public EachTest() {
        throwables.enable("jdk.JavaExceptionThrow").withoutStackTrace();
        throwables.start();
    }

    @Override
    public void testSuiteStarted(Description suite) {
        next(null);
    }

    @Override
    public void testStarted(Description test) {
        String name = test.getClassName() + "#" + test.getMethodName();
        if (current == null) {
            current = name;
        } else {
            next(name);
        }
    }

    @Override
    public void testRunFinished(Result result) throws Exception {
        next(null);
        write();
    }

    private void next(String name) {
        byte[] data = RT.getAgent().getExecutionData(true);
        if (current != null) {
            Seen one = new Seen();
            one.data = data;
            one.end = java.time.Instant.now();
            seen.put(current, one);
        }
        current = name;
    }

    private void write() throws Exception {
        Set<String> throwing = throwing();
        try (PrintWriter out = new PrintWriter("target/reference.txt")) {
            for (Map.Entry<String, Seen> each : seen.entrySet()) {
                boolean isThrowing = throwing.contains(each.getKey());
                out.println(each.getKey() + " " + covered(each.getValue().data) + " " + isThrowing);
            }
        }
    }

    private static int covered(byte[] data) throws Exception {
        ExecutionDataStore store = new ExecutionDataStore();
        ExecutionDataReader reader = new ExecutionDataReader(new ByteArrayInputStream(data));
        reader.setSessionInfoVisitor(info -> { });
        reader.setExecutionDataVisitor(store);
        while (reader.read()) { }
        CoverageBuilder builder = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(store, builder);
        for (ExecutionData used : store.getContents()) {
            for (String folder : new String[] {"target/classes", "target/test-classes"}) {
                File file = new File(folder, used.getName() + ".class");
                if (file.isFile()) {
                    analyzer.analyzeAll(file);
                }
            }
        }
        int lines = 0;
        for (ISourceFileCoverage file : builder.getSourceFiles()) {
            boolean isOurs = file.getPackageName().equals("reference");
            lines += isOurs ? 0 : file.getLineCounter().getCoveredCount();
        }
        return lines;
    }

    /** The tests in which a throwable was made. */
    private Set<String> throwing() throws Exception {
        Path file = Files.createTempFile("throwables", ".jfr");
        throwables.stop();
        throwables.dump(file);
        Set<String> names = new TreeSet<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            java.time.Instant from = begin;
            for (Map.Entry<String, Seen> each : seen.entrySet()) {
                java.time.Instant at = event.getStartTime();
                if (at.isAfter(from) && !at.isAfter(each.getValue().end)) {
                    names.add(each.getKey());
                }
                from = each.getValue().end;
            }
        }
        Files.delete(file);
        return names;
    }
}
