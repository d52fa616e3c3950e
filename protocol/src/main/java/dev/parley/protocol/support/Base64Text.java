package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of files of peers of 0.3. Its SDKs for Python, Go and Java put the base64 text of a file into the field of its bytes, where that for
 * JavaScript puts the bytes.
 */
public final class Base64Text {
    private static final int SHORTEST = 4;

    private Base64Text() {}

    /**
     * Returns the bytes of a file: those whose base64 text the given ones are, else the given ones. Text that could be both is taken for base64
     * only if the result is text, too.
     */
    public static byte[] decoded(byte[] bytes, @Nullable String mediaType) {
        if (bytes.length < SHORTEST || bytes.length % 4 != 0 || !isAlphabet(bytes)) {
            return bytes;
        }
        byte[] file;
        try {
            file = Base64.getDecoder().decode(bytes);
        } catch (IllegalArgumentException other) {
            return bytes;
        }
        boolean isCanonical = Arrays.equals(Base64.getEncoder().encode(file), bytes);
        return isCanonical && (!isText(mediaType) || isReadable(file)) ? file : bytes;
    }

    /** The base64 text of a file, as bytes. */
    public static byte[] encoded(byte[] file) {
        return Base64.getEncoder().encode(file);
    }

    private static boolean isAlphabet(byte[] bytes) {
        for (byte one : bytes) {
            boolean letter = one >= 'a' && one <= 'z' || one >= 'A' && one <= 'Z' || one >= '0' && one <= '9';
            if (!letter && one != '+' && one != '/' && one != '=') {
                return false;
            }
        }
        return true;
    }

    private static boolean isText(@Nullable String mediaType) {
        String type = mediaType == null ? "" : mediaType.toLowerCase(Locale.ROOT);
        return type.startsWith("text/") || type.contains("json") || type.contains("xml") || type.contains("yaml");
    }

    private static boolean isReadable(byte[] bytes) {
        try {
            String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            return text.chars().noneMatch(c -> Character.isISOControl(c) && !Character.isWhitespace(c));
        } catch (CharacterCodingException binary) {
            return false;
        }
    }
}
