package dev.parley.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An answer that is read whole. Keeps the beginning of the body and looks there for an error, which every server writes
 * near the front: parsing each answer would measure this program instead of the server.
 */
final class LoadAnswer implements LoadConnection.Reader {
    /** Enough to see whether an answer is an error. */
    static final int PEEK = 256;

    private static final byte[] RESULT = "\"result\"".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] ERROR = "\"error\"".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CODE = "\"code\"".getBytes(StandardCharsets.US_ASCII);

    private final boolean rpc;
    private final byte[] kept;
    private int count;
    private int status;

    /**
     * @param rpc whether an answer with status 200 may be an error
     * @param keep how much of the body is kept
     */
    LoadAnswer(boolean rpc, int keep) {
        this.rpc = rpc;
        this.kept = new byte[keep];
    }

    @Override
    public void head(int status, boolean events) {
        this.status = status;
        this.count = 0;
    }

    @Override
    public void body(ByteBuffer piece) {
        int take = Math.min(kept.length - count, piece.remaining());
        piece.get(kept, count, take);
        count += take;
    }

    int status() {
        return status;
    }

    /** The part of the body that was kept. */
    byte[] body() {
        return Arrays.copyOf(kept, count);
    }

    /** Returns the kind of error of an answer; null for none. */
    @Nullable
    String problem() {
        if (status < 200 || status > 299) {
            return "http " + status;
        }
        return rpc ? rpcError(kept, count) : null;
    }

    /** Returns the kind of error of a JSON-RPC response, from its first bytes; null for none. */
    static @Nullable String rpcError(byte[] json, int length) {
        for (int i = 0; i < length; i++) {
            if (json[i] == '"') {
                if (isAt(RESULT, json, i, length)) {
                    return null;
                }
                if (isAt(ERROR, json, i, length)) {
                    return "rpc" + code(json, i, length);
                }
            }
        }
        return "no json-rpc";
    }

    private static String code(byte[] json, int from, int length) {
        for (int i = from; i < length; i++) {
            if (isAt(CODE, json, i, length)) {
                var digits = new StringBuilder(" ");
                for (int at = i + CODE.length; at < length && json[at] != ',' && json[at] != '}'; at++) {
                    if (json[at] == '-' || json[at] >= '0' && json[at] <= '9') {
                        digits.append((char) json[at]);
                    }
                }
                return digits.toString();
            }
        }
        return "";
    }

    private static boolean isAt(byte[] token, byte[] json, int at, int length) {
        return at + token.length <= length && Arrays.equals(token, 0, token.length, json, at, at + token.length);
    }
}
