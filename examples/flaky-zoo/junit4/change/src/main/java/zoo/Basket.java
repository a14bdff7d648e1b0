package zoo;

import java.util.HashMap;
import java.util.Map;

/** What a customer is about to buy. */
public final class Basket {
    private final Map<Integer, Integer> items = new HashMap<>();

    public void add(int price, int count) {
        items.put(price, count);
    }

    public int total() {
        return items.keySet().stream().mapToInt(Integer::intValue).sum();
    }
}
