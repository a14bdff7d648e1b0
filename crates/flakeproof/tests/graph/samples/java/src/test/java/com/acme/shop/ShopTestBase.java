package com.acme.shop;

import java.time.Clock;
import org.junit.Before;

public abstract class ShopTestBase {
    protected Clock clock;

    @Before
    public void setUpClock() {
        clock = Clock.systemUTC();
    }

    protected Basket filled(String item, int count) {
        Basket basket = new Basket(clock);
        basket.add(item, count);
        return basket;
    }
}
