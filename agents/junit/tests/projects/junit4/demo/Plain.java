package demo;

import static org.junit.Assert.assertEquals;
import static org.junit.Assume.assumeTrue;

import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Ignore;
import org.junit.Test;

public class Plain {
    @BeforeClass
    public static void open() {
        Trace.note("open");
        System.out.println("opening");
    }

    @AfterClass
    public static void close() {
        Trace.note("close");
    }

    @Before
    public void before() {
        Trace.note("before");
    }

    @After
    public void after() {
        Trace.note("after");
    }

    @Test
    public void passes() {
        Trace.note("passes");
        System.out.println("out");
        System.err.println("err");
    }

    @Test
    public void fails() {
        Trace.note("fails");
        assertEquals(1, 2);
    }

    @Test
    public void assumes() {
        assumeTrue(false);
    }

    @Test
    @Ignore("not today")
    public void ignored() {}

    @Test(expected = IllegalStateException.class)
    public void expects() {}

    @Test
    public void second() {
        Trace.note("second");
        System.out.println("attempt " + System.getProperty("flakeproof.attempt"));
    }
}
