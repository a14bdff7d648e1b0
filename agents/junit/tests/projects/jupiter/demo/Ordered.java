package demo;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class Ordered {
    @BeforeAll
    static void open() {
        Trace.note("open");
    }

    @AfterAll
    static void close() {
        Trace.note("close");
    }

    @Test
    @Order(3)
    void a() {
        Trace.note("a");
    }

    @Test
    @Order(2)
    void b() {
        Trace.note("b");
    }

    @Test
    @Order(1)
    void c() {
        Trace.note("c");
    }
}
