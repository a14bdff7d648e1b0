package zoo;

import java.security.SecureRandom;

/** A lottery for customers. */
public final class Lottery {
    private static final SecureRandom CHANCE = new SecureRandom();

    private Lottery() {}

    /** A number from 0 to 9, as random as the machine can make it. */
    public static int draw() {
        return CHANCE.nextInt(10);
    }
}
