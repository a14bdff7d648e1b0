package com.acme.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void sumsPrices() {
        assertEquals(30, new Cart().add(10).add(20).total());
    }

    @Nested
    class WhenEmpty {
        @Test
        void costsNothing() {
            assertEquals(0, new Cart().total());
        }
    }
}
