package zoo;

/** The customer who is logged in. */
public final class Customer {
    private static String current;

    private Customer() {}

    public static void logIn(String name) {
        current = name;
    }

    public static String greeting() {
        return "Hello, " + current.toUpperCase(java.util.Locale.ROOT);
    }
}
