package dev.parley.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A whole HTTP request as bytes, made once. Where it carries a message id, the last {@value #DIGITS} characters of that
 * are written anew each time; nothing else changes. For one thread at a time, unless it carries none.
 */
final class LoadRequest {
    /** Stands in a request where the changing end of the message id goes. */
    static final String NUMBER = "0000000000000000";

    private static final int DIGITS = 16;
    private static final byte[] NOTHING = {};
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final ByteBuffer bytes;
    private final int numberAt;

    private LoadRequest(ByteBuffer bytes, int numberAt) {
        this.bytes = bytes;
        this.numberAt = numberAt;
    }

    /** @param body which is JSON and may hold {@link #NUMBER} once; null if there is none */
    static LoadRequest of(String head, byte @Nullable [] body) {
        String length = body == null ? "" : "Content-Type: application/json\r\nContent-Length: " + body.length + "\r\n";
        return of((head + length + "\r\n").getBytes(StandardCharsets.UTF_8), body == null ? NOTHING : body);
    }

    /** @param body which may hold {@link #NUMBER} once */
    static LoadRequest of(byte[] start, byte[] body) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(start.length + body.length);
        int found = new String(body, StandardCharsets.ISO_8859_1).indexOf(NUMBER);
        return new LoadRequest(bytes.put(start).put(body).flip(), found < 0 ? -1 : start.length + found);
    }

    /** Returns this request for another thread. Only those that are numbered are copied. */
    LoadRequest share() {
        return numberAt < 0
                ? this
                : new LoadRequest(
                        ByteBuffer.allocateDirect(size())
                                .put(bytes.duplicate().rewind())
                                .flip(),
                        numberAt);
    }

    /**
     * Returns the bytes to send, with a message id that {@code number} makes unique. They are valid until the next call.
     */
    ByteBuffer numbered(long number) {
        if (numberAt < 0) {
            return bytes.duplicate();
        }
        long left = scattered(number);
        for (int i = DIGITS - 1; i >= 0; i--) {
            bytes.put(numberAt + i, HEX[(int) (left & 15)]);
            left >>>= 4;
        }
        return bytes.rewind();
    }

    /**
     * Returns another number for each number, far from those of its neighbours: ids of real clients are random, and an
     * index takes much longer to put those in their places than ids that count up.
     */
    private static long scattered(long number) {
        long bits = (number ^ number >>> 33) * 0xff51afd7ed558ccdL;
        bits = (bits ^ bits >>> 33) * 0xc4ceb9fe1a85ec53L;
        return bits ^ bits >>> 33;
    }

    int size() {
        return bytes.limit();
    }
}
