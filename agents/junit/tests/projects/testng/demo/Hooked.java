package demo;

import org.testng.IHookCallBack;
import org.testng.IHookable;
import org.testng.ITestResult;
import org.testng.annotations.Test;

public class Hooked implements IHookable {
    @Override
    public void run(IHookCallBack test, ITestResult result) {
        test.runTestMethod(result);
    }

    @Test
    public void hooked() {
        Trace.note("hooked");
    }
}
