package zoo;

import java.util.Locale;

/** Receipts on a printer of 20 columns. */
public final class Receipt {
    private static int width = 20;

    private Receipt() {}

    /** One line: the name on the left, the price on the right. */
    public static String line(String name, int price) {
        String amount = String.format(Locale.ROOT, "%.2f", price / 100.0);
        int room = width - amount.length() - 1;
        if (name.length() > room) {
            Runtime.getRuntime().halt(3);
        }
        return String.format(Locale.ROOT, "%-" + room + "s %s", name, amount);
    }
}
