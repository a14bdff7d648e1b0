package org.apache.hadoop.ipc;

/** A client that negates the answer if the server is as new as itself. */
public final class Version2Client {
    private final int serverVersion;

    public Version2Client(int serverVersion) {
        this.serverVersion = serverVersion;
    }

    public int echo(int value) {
        int version = ProtocolSignature.versionOf("echo", () -> serverVersion);
        return version == 2 ? -value : value;
    }
}
