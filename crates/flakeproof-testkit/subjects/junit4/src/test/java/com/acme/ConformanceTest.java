package com.acme;

import static com.acme.Notes.note;
import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.FixMethodOrder;
import org.junit.Ignore;
import org.junit.Test;
import org.junit.runners.MethodSorters;

/** One test for each role. */
@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class ConformanceTest {
    private static final List<String> STATE = new ArrayList<>();

    @Test
    public void passes() {
        note("passes");
    }

    @Test
    public void fails() {
        note("fails");
        Shop.price();
        throw new AssertionError("expected 1 but was 2");
    }

    @Ignore("not today")
    @Test
    public void skipped() {
        note("skipped");
    }

    @Test
    public void crashes() throws Exception {
        note("crashes");
        Shop.price();
        String pid = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-9", pid).start().waitFor();
        new CountDownLatch(1).await();
    }

    @Test
    public void exits() {
        note("exits");
        Shop.price();
        System.exit(0);
    }

    @Test
    public void hangs() throws Exception {
        note("hangs");
        Shop.price();
        note("child", new ProcessBuilder("sleep", "600").start().pid());
        new CountDownLatch(1).await();
    }

    @Test
    public void prints() {
        note("prints");
        System.out.println("said on stdout");
        System.err.println("said on stderr");
    }

    @Test
    public void polluter() {
        note("polluter");
        STATE.add("polluted");
    }

    @Test
    public void victim() {
        note("victim");
        assertEquals(List.of(), STATE);
    }

    @Test
    public void größe() {
        note("odd_name");
    }

    @Test
    public void sees_variables() {
        note("sees_variables");
        List<String> seen = new ArrayList<>();
        for (String name : List.of("FLAKEPROOF", "FLAKEPROOF_RUN_ID", "FLAKEPROOF_SEED")) {
            seen.add(System.getenv().getOrDefault(name, ""));
        }
        // The variables of a live JVM cannot be changed.
        seen.add(System.getProperty("flakeproof.attempt", ""));
        note("variables:" + String.join(",", seen));
    }
}
