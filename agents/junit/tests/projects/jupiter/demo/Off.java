package demo;

import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

@Disabled("all of it")
class Off {
    @Test
    void one() {}

    @RepeatedTest(3)
    void often() {}
}
