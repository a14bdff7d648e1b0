package zoo;

import java.util.ArrayList;
import java.util.List;

/** What a customer is about to buy. */
public final class Basket {
    private final List<int[]> items = new ArrayList<>();

    public void add(int price, int count) {
        items.add(new int[] {price, count});
    }

    public int total() {
        return items.stream().mapToInt(item -> item[0] * item[1]).sum();
    }
}
