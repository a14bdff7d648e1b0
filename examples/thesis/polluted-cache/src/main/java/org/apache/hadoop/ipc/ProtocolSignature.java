package org.apache.hadoop.ipc;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Remembers what servers said about their protocol. */
public final class ProtocolSignature {
    private static final Map<String, Integer> CACHE = new HashMap<>();

    private ProtocolSignature() {}

    /** The version of a protocol; the server is asked once. */
    public static synchronized int versionOf(String protocol, Supplier<Integer> server) {
        return CACHE.computeIfAbsent(protocol, asked -> server.get());
    }

    /** Forgets everything. */
    public static synchronized void resetCache() {
        CACHE.clear();
    }
}
