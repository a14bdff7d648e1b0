package demo;

import static org.testng.Assert.assertTrue;

import org.testng.annotations.BeforeClass;
import org.testng.annotations.BeforeMethod;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class Rows {
    private Object[][] rows;

    @BeforeClass
    public void open() {
        rows = new Object[][] {{1}, {2}, {3}};
    }

    @BeforeMethod
    public void before() {
        Trace.note("before");
    }

    @DataProvider(parallel = true)
    public Object[][] numbers() {
        return rows;
    }

    @Test(dataProvider = "numbers")
    public void small(int number) {
        Trace.note("small " + number);
        assertTrue(number < 3);
    }

    @Test
    public void plain() {
        Trace.note("plain");
    }

    @Test(invocationCount = 2)
    public void twice() {
        Trace.note("twice");
    }

    @DataProvider
    public Object[][] broken() {
        throw new IllegalStateException("in the provider");
    }

    @Test(dataProvider = "broken")
    public void sourceless(int number) {}
}
