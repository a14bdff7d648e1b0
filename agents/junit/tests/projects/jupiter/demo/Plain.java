package demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class Plain {
    @BeforeAll
    static void open() {
        Trace.note("open");
        System.out.println("opening");
    }

    @AfterAll
    static void close() {
        Trace.note("close");
    }

    @BeforeEach
    void before(TestInfo info) {
        Trace.note("before");
        if (info.getTags().contains("broken-before")) {
            throw new IllegalStateException("in before");
        }
    }

    @AfterEach
    void after(TestInfo info) {
        if (info.getTags().contains("broken-after")) {
            throw new IllegalStateException("in after");
        }
    }

    @Test
    @Tag("fast")
    void passes() {
        Trace.note("passes");
        System.out.println("out");
        System.err.println("err");
    }

    @Test
    void fails(TestInfo info) {
        Trace.note("fails");
        assertEquals(1, 2);
    }

    @Test
    void assumes() {
        assumeTrue(false, "not here");
    }

    @Test
    @Disabled("not today")
    void disabled() {}

    @Test
    @Tag("broken-before")
    void brokenBefore() {}

    @Test
    @Tag("broken-after")
    void brokenAfter() {}

    @Test
    void second() {
        Trace.note("second");
        System.out.println("attempt " + System.getProperty("flakeproof.attempt"));
    }

    @Test
    void exhausts() {
        throw new OutOfMemoryError("on purpose");
    }

    @Test
    void exits() {
        System.exit(3);
    }

    @Nested
    class Inner {
        @BeforeEach
        void before() {
            Trace.note("inner before");
        }

        @Test
        void deep() {
            Trace.note("deep");
        }
    }
}
