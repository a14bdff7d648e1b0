package com.acme.shop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.Before;
import org.junit.Test;

public class BasketTest extends ShopTestBase {
    private Basket basket;

    @Before
    public void setUp() {
        basket = filled("apple", 3);
    }

    @Test
    public void expiresInAnHour() {
        long now = System.currentTimeMillis();
        long expires = basket.expires();
        assertEquals(3, basket.size());
        assertTrue(expires > now);
    }

    @Test
    public void isToBeWritten() {
    }
}
