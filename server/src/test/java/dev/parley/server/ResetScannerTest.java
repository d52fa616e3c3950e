package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResetScannerTest {
    private static final int DATA = 0;
    private static final int RST_STREAM = 3;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 9, 1000})
    void resetsAreFoundHoweverTheBytesAreCut(int size) {
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        frame(bytes, DATA, 1, 300);
        frame(bytes, RST_STREAM, 5, 4);
        frame(bytes, DATA, 7, 0);
        frame(bytes, RST_STREAM, 0x01020304, 4);
        var found = new ArrayList<Integer>();
        var scanner = new ResetScanner(found::add);

        var all = bytes.toByteArray();
        for (var from = 0; from < all.length; from += size) {
            scanner.scan(all, from, Math.min(from + size, all.length));
        }

        assertThat(found).containsExactly(5, 0x01020304);
    }

    private static void frame(ByteArrayOutputStream to, int type, int stream, int length) {
        to.writeBytes(new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length, (byte) type, 0});
        // The highest bit is reserved and means nothing.
        to.writeBytes(
                new byte[] {(byte) (stream >> 24 | 0x80), (byte) (stream >> 16), (byte) (stream >> 8), (byte) stream});
        var payload = new byte[length];
        java.util.Arrays.fill(payload, (byte) RST_STREAM);
        to.writeBytes(payload);
    }
}
