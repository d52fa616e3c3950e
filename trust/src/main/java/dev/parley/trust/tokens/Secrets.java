package dev.parley.trust.tokens;

import dev.parley.protocol.support.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Random secrets, and their hashes: one round of SHA-256, which is enough for long random ones. */
public final class Secrets {
    /** Hash of no secret. */
    private static final byte[] NONE = new byte[32];

    private static final SecureRandom RANDOM = new SecureRandom();

    private Secrets() {}

    /** Hexadecimal digits of random bytes. */
    public static String random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    public static byte[] hash(String secret) {
        return Sha256.of(secret);
    }

    /** Compares in constant time, also if {@code held} is null because the name is unknown. */
    public static boolean equal(byte[] hash, byte @Nullable [] held) {
        return MessageDigest.isEqual(hash, held == null ? NONE : held);
    }

    /** Key for the look-up of a hash; its timing reveals nothing about the secret. */
    public static long beginning(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }
}
