package zoo;

import java.util.Locale;

/** Receipts on a printer of 20 columns. */
public final class Receipt {
    private static int width = 20;

    private Receipt() {}

    /** One line: the name on the left, the price on the right, cut to the paper's width. */
    public static String line(String name, int price) {
        String amount = String.format(Locale.ROOT, "%.2f", price / 100.0);
        int room = width - amount.length() - 1;
        String cut = name.length() > room ? name.substring(0, room) : name;
        return String.format(Locale.ROOT, "%-" + room + "s %s", cut, amount);
    }
}
