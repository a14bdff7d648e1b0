package demo;

import static org.testng.Assert.assertEquals;

import org.testng.SkipException;
import org.testng.annotations.AfterClass;
import org.testng.annotations.AfterMethod;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.Test;

public class Plain {
    @BeforeClass
    public void open() {
        Trace.note("open");
    }

    @AfterClass
    public void close() {
        Trace.note("close");
    }

    @BeforeMethod
    public void before() {
        Trace.note("before");
    }

    @AfterMethod
    public void after() {
        Trace.note("after");
    }

    @Test(groups = "fast")
    public void passes() {
        Trace.note("passes");
        System.out.println("out");
    }

    @Test
    public void fails() {
        Trace.note("fails");
        assertEquals(1, 2);
    }

    @Test
    public void skips() {
        throw new SkipException("not here");
    }

    @Test(priority = -5)
    public void urgent() {
        Trace.note("urgent");
    }

    @Test(enabled = false)
    public void disabled() {}

    @Test
    public void exits() {
        System.exit(3);
    }
}
