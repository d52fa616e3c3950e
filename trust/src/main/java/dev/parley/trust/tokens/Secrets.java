package dev.parley.trust.tokens;

import dev.parley.protocol.support.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** Hashes of secrets: one round of SHA-256, which is enough for long random ones. */
public final class Secrets {
    /** Hash of no secret. */
    private static final byte[] NONE = new byte[32];

    private Secrets() {}

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
