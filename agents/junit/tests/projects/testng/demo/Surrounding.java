package demo;

import org.testng.annotations.AfterSuite;
import org.testng.annotations.BeforeSuite;
import org.testng.annotations.Test;

public class Surrounding {
    @BeforeSuite
    public void openSuite() {
        Trace.note("open suite");
    }

    @AfterSuite
    public void closeSuite() {
        Trace.note("close suite");
    }

    @Test
    public void own() {
        Trace.note("own");
    }
}
