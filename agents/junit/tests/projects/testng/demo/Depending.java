package demo;

import org.testng.Assert;
import org.testng.annotations.Test;

public class Depending {
    @Test
    public void first() {
        Trace.note("first");
        Assert.assertFalse(Boolean.getBoolean("break.first"), "broken");
    }

    @Test(dependsOnMethods = "first")
    public void second() {
        Trace.note("second");
    }

    @Test(dependsOnGroups = "base")
    public void third() {
        Trace.note("third");
    }

    @Test(groups = "base")
    public void base() {
        Trace.note("base");
    }
}
