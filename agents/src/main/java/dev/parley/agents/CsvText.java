package dev.parley.agents;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The characters of a file, which is UTF-8 unless its byte order mark says UTF-16.
 *
 * @param lines how many there are, blank ones included; at least 1
 * @param broken true if some bytes were not characters; {@link #REPLACEMENT} stands for them
 */
record CsvText(String text, long lines, boolean broken) {
    private static final char REPLACEMENT = '\uFFFD';
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    static CsvText decode(byte[] bytes) {
        Charset charset = charset(bytes);
        String text;
        boolean broken;
        try {
            CharBuffer strict = charset.newDecoder().decode(ByteBuffer.wrap(bytes));
            text = strict.toString();
            broken = false;
        } catch (CharacterCodingException e) {
            // Decoded all the same, so that the field that holds the first bad byte can be named.
            text = new String(bytes, charset);
            broken = true;
        }
        if (!text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK) {
            text = text.substring(1);
        }
        return new CsvText(text, text.chars().filter(c -> c == '\n').count() + 1, broken);
    }

    private static Charset charset(byte[] bytes) {
        int mark = bytes.length < 2 ? 0 : (bytes[0] & 0xFF) << 8 | (bytes[1] & 0xFF);
        return mark == 0xFEFF || mark == 0xFFFE ? StandardCharsets.UTF_16 : StandardCharsets.UTF_8;
    }

    /** Returns the problem of a field of this text; null for none. */
    @Nullable
    String problemIn(String field) {
        if (field.indexOf('\0') >= 0) {
            return "a NUL character (expected: text)";
        }
        return broken && field.indexOf(REPLACEMENT) >= 0 ? "bytes that are not UTF-8" : null;
    }
}
