package flakeproof.agent;

/** A test of the collected suite. */
public final class Test {
    /** Its place in the collected suite. */
    public final int index;

    /** Its id, which people see. */
    public final String id;

    /** What its driver needs to run it without a search. */
    public final String handle;

    Test(int index, String id, String handle) {
        this.index = index;
        this.id = id;
        this.handle = handle;
    }

    /** The binary name of its class. */
    public String type() {
        return id.split("#", 2)[0].split("\\[", 2)[0];
    }
}
