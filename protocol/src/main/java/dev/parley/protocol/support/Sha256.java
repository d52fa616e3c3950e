package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 (FIPS 180-4), which every Java platform has. */
public final class Sha256 {
    private Sha256() {}

    /** A digest of its own, for hashes of several parts. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    /** The 32 bytes of the hash. */
    public static byte[] of(byte[] bytes) {
        return digest().digest(bytes);
    }

    /** The 32 bytes of the hash of a text in UTF-8. */
    public static byte[] of(String text) {
        return of(text.getBytes(UTF_8));
    }

    /** The hash of a text in UTF-8, as 64 lower-case hexadecimal digits. */
    public static String hex(String text) {
        return HexFormat.of().formatHex(of(text));
    }
}
