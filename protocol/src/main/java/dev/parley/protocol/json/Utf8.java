package dev.parley.protocol.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Tells whether bytes are UTF-8 in its one legal form.
 *
 * <p>The JSON parser lets overlong forms and surrogates pass, so that two different byte sequences could become one
 * string.
 *
 * <p>Source: RFC 3629, section 4.
 */
public final class Utf8 {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long NOT_ASCII = 0x8080808080808080L;

    private Utf8() {}

    public static boolean isValid(byte[] bytes) {
        int i = 0;
        while (i < bytes.length) {
            if (i + Long.BYTES <= bytes.length && ((long) LONGS.get(bytes, i) & NOT_ASCII) == 0) {
                i += Long.BYTES;
            } else if (bytes[i] >= 0) {
                i++;
            } else {
                int length = lengthOfCharacter(bytes, i);
                if (length == 0) {
                    return false;
                }
                i += length;
            }
        }
        return true;
    }

    /** The length of the character beyond ASCII that begins at {@code at}; 0 if none does. */
    private static int lengthOfCharacter(byte[] bytes, int at) {
        int first = bytes[at] & 0xFF;
        int second = at + 1 < bytes.length ? bytes[at + 1] & 0xFF : 0;
        if (first >= 0xC2 && first <= 0xDF) {
            return isTail(second) ? 2 : 0;
        }
        if (first >= 0xE0 && first <= 0xEF) {
            int from = first == 0xE0 ? 0xA0 : 0x80; // below: overlong
            int to = first == 0xED ? 0x9F : 0xBF; // above: surrogates
            return second >= from && second <= to && isTail(bytes, at + 2) ? 3 : 0;
        }
        if (first >= 0xF0 && first <= 0xF4) {
            int from = first == 0xF0 ? 0x90 : 0x80; // below: overlong
            int to = first == 0xF4 ? 0x8F : 0xBF; // above: beyond Unicode
            return second >= from && second <= to && isTail(bytes, at + 2) && isTail(bytes, at + 3) ? 4 : 0;
        }
        return 0;
    }

    private static boolean isTail(byte[] bytes, int at) {
        return at < bytes.length && isTail(bytes[at] & 0xFF);
    }

    private static boolean isTail(int value) {
        return value >= 0x80 && value <= 0xBF;
    }
}
