package zoo;

/** What it costs to send a parcel, in cents. */
public final class Shipping {
    private Shipping() {}

    public static int cost(int grams, String country) {
        int base = country.equals("home") ? 400 : 900;
        if (grams > 2000) {
            base = 1500;
        }
        return base + 100 * (grams / 1000);
    }
}
