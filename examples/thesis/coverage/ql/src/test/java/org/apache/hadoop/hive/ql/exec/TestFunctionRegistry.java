package org.apache.hadoop.hive.ql.exec;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class TestFunctionRegistry {
    @Test
    public void findsFunctions() {
        assertTrue(FunctionRegistry.find("=").evaluate(1, 1));
        assertTrue(FunctionRegistry.find("<").evaluate(1, 2));
    }
}
