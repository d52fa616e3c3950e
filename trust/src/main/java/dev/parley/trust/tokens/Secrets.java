package dev.parley.trust.tokens;

import dev.parley.protocol.Sha256;
import java.nio.ByteBuffer;

/** Hashes of secrets: one round of SHA-256, which is enough for long random ones. */
public final class Secrets {
    /** Dummy hash for unknown names, so that a comparison takes as long. */
    public static final byte[] NOBODYS = new byte[32];

    private Secrets() {}

    public static byte[] hash(String secret) {
        return Sha256.of(secret);
    }

    /** By which a hash is looked up; how long that takes tells nothing of the secret. */
    public static long beginning(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }
}
