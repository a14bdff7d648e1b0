package demo;

import org.testng.annotations.Factory;

public class Factories {
    @Factory
    public Object[] make() {
        return new Object[] {new Made("1"), new Made("2")};
    }
}
