package zoo;

import java.util.function.IntUnaryOperator;

/** Half price on one day of the year. */
public final class BlackFridayOffer implements IntUnaryOperator {
    @Override
    public int applyAsInt(int price) {
        return price / 2;
    }
}
