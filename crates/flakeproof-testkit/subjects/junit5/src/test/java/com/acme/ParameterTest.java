package com.acme;

import static com.acme.Notes.note;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One test with two parameters. */
class ParameterTest {
    @ParameterizedTest
    @ValueSource(strings = {"one", "two words"})
    public void parameter(String word) {
        note("parameter_" + word.split(" ")[0]);
    }
}
