package zoo;

import java.util.List;
import java.util.function.IntUnaryOperator;

/** Special offers: each is a class of its own, found by its name. */
public final class Offers {
    private Offers() {}

    /** The lowest price any offer gives. */
    public static int bestPrice(int price) {
        int best = price;
        for (String name : List.of("StudentOffer", "BlackFridayOffer")) {
            try {
                Object offer = Class.forName("zoo." + name).getDeclaredConstructor().newInstance();
                best = Math.min(best, ((IntUnaryOperator) offer).applyAsInt(price));
            } catch (ClassNotFoundException missing) {
                // Not every shop has every offer.
                continue;
            } catch (ReflectiveOperationException broken) {
                throw new IllegalStateException(broken);
            }
        }
        return best;
    }
}
