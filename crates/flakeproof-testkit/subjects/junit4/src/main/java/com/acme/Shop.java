package com.acme;

/** What {@code TouchesTest} calls. */
public final class Shop {
    private Shop() {}

    public static int price() {
        return 40;
    }
}
