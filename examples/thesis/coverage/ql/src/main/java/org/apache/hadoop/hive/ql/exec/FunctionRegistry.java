package org.apache.hadoop.hive.ql.exec;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFBaseCompare;

/** The functions of the query language. */
public final class FunctionRegistry {
    private static final Map<String, GenericUDFBaseCompare> FUNCTIONS = new TreeMap<>();

    static {
        FUNCTIONS.put("=", new GenericUDFBaseCompare(0));
        FUNCTIONS.put("<", new GenericUDFBaseCompare(-1));
    }

    private FunctionRegistry() {}

    public static GenericUDFBaseCompare find(String name) {
        return FUNCTIONS.get(name);
    }
}
