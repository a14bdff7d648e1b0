package com.acme;

import static com.acme.Notes.note;

import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

/** One test with two parameters. */
@RunWith(Parameterized.class)
public class ParameterTest {
    private final String word;

    public ParameterTest(String word) {
        this.word = word;
    }

    @Parameters(name = "{0}")
    public static List<String> words() {
        return List.of("one", "two words");
    }

    @Test
    public void parameter() {
        note("parameter_" + word.split(" ")[0]);
    }
}
