package flakeproof.agent.testng;

import org.testng.ITestNGMethod;

/** The class that a test is run in, which may inherit its method. */
final class RealClass {
    private RealClass() {}

    /** TestNG calls the class that declares a method its real class, as if it ran there. */
    static Class<?> of(ITestNGMethod method) {
        return method.getTestClass() == null
                ? method.getRealClass()
                : method.getTestClass().getRealClass();
    }
}
