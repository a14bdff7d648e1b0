package demo;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class Many {
    private List<String> names;

    @BeforeEach
    void before() {
        Trace.note("before");
        names = Arrays.asList("x", "y");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void small(int number) {
        Trace.note("small " + number);
        assertTrue(number < 3);
    }

    @ParameterizedTest
    @MethodSource("texts")
    void arrays(String[] texts, int[][] numbers) {
        Trace.note("arrays");
    }

    static Stream<org.junit.jupiter.params.provider.Arguments> texts() {
        return Stream.of(
                org.junit.jupiter.params.provider.Arguments.of(new String[0], new int[0][]));
    }

    @ParameterizedTest
    @MethodSource("broken")
    void sourceless(int number) {}

    static Stream<Integer> broken() {
        throw new IllegalStateException("in the source");
    }

    @RepeatedTest(2)
    void twice() {
        Trace.note("twice");
    }

    @TestFactory
    List<DynamicNode> factory() {
        return Arrays.asList(
                DynamicTest.dynamicTest(names.get(0), () -> Trace.note("dynamic 1")),
                DynamicContainer.dynamicContainer(
                        "more",
                        Arrays.asList(
                                DynamicTest.dynamicTest(
                                        names.get(1), () -> Trace.note("dynamic 2.1")),
                                DynamicTest.dynamicTest(
                                        "fails", () -> assertTrue(false, "dynamic")))));
    }
}
