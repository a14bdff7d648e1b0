package org.apache.hadoop.hive.ql.udf.generic;

/** Compares two numbers. */
public final class GenericUDFBaseCompare {
    private final int wanted;

    public GenericUDFBaseCompare(int wanted) {
        this.wanted = wanted;
    }

    public boolean evaluate(int left, int right) {
        return Integer.compare(left, right) == wanted;
    }
}
