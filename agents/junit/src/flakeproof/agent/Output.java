package flakeproof.agent;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;

/**
 * What tests print: kept per test, and passed on.
 *
 * <p>A test may put its own streams in place of these, and may not put them back. That is left as
 * it is, because such leftovers are what flakeproof looks for; then less is kept.
 */
final class Output {
    /** Bytes that are kept of one test; the end matters most. */
    private static final int CAP = 64 * 1024;

    private final byte[] ring = new byte[CAP];
    private final InputStream in = System.in;
    private final PrintStream out = System.out;
    private final PrintStream err = System.err;
    private long written;

    /** Stands in for the standard streams. */
    static Output install() {
        Output output = new Output();
        output.renew();
        return output;
    }

    /** Stands in for them again, whatever was put in its place, closed or broken. */
    void renew() {
        System.setIn(in);
        System.setOut(around(out, "stdout.encoding"));
        System.setErr(around(err, "stderr.encoding"));
    }

    /** Forgets what was printed so far. */
    synchronized void begin() {
        written = 0;
    }

    /** What was printed since the beginning, or null if that is nothing. */
    synchronized String end() {
        if (written == 0) {
            return null;
        }
        int length = (int) Math.min(written, CAP);
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = ring[(int) ((written - length + i) % CAP)];
        }
        written = 0;
        return new String(bytes, Charset.defaultCharset());
    }

    private synchronized void keep(byte[] bytes, int offset, int length) {
        int begin = Math.max(0, length - CAP);
        written += begin;
        for (int i = begin; i < length; i++) {
            ring[(int) (written++ % CAP)] = bytes[offset + i];
        }
    }

    private PrintStream around(PrintStream real, String encodingProperty) {
        OutputStream both =
                new OutputStream() {
                    @Override
                    public void write(int one) {
                        write(new byte[] {(byte) one}, 0, 1);
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) {
                        keep(bytes, offset, length);
                        real.write(bytes, offset, length);
                    }

                    @Override
                    public void flush() {
                        real.flush();
                    }
                };
        String encoding = System.getProperty(encodingProperty, Charset.defaultCharset().name());
        try {
            return new PrintStream(both, true, encoding);
        } catch (IOException unknown) {
            return new PrintStream(both, true);
        }
    }
}
