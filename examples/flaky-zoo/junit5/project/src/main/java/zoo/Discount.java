package zoo;

/** The discount of the day, in percent. */
public final class Discount {
    public static int percent = 0;

    private Discount() {}

    public static int reduced(int price) {
        return price * (100 - percent) / 100;
    }
}
