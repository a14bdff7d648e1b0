package demo;

import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class Ancestor {
    @DataProvider
    public Object[][] numbers() {
        return new Object[][] {{1}, {2}};
    }

    @Test
    public void inherited() {
        Trace.note("inherited of " + getClass().getSimpleName());
    }

    @Test(dataProvider = "numbers")
    public void row(int number) {
        Trace.note("row " + number + " of " + getClass().getSimpleName());
    }
}
