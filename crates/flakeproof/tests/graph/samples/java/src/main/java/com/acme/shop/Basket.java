package com.acme.shop;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

public class Basket {
    private final Clock clock;
    private final List<String> items = new ArrayList<>();

    public Basket(Clock clock) {
        this.clock = clock;
    }

    public void add(String item, int count) {
        for (int i = 0; i < count; i++) {
            items.add(item);
        }
    }

    public int size() {
        return items.size();
    }

    /** Baskets expire after an hour. */
    public long expires() {
        return clock.millis() + 3_600_000L;
    }
}
