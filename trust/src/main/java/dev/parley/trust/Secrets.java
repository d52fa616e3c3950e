package dev.parley.trust;

import dev.parley.protocol.Sha256;
import java.nio.ByteBuffer;

/** Hashes of secrets: one round of SHA-256, which is enough for long random ones. */
final class Secrets {
    /** Dummy hash for unknown names, so that a comparison takes as long. */
    static final byte[] NOBODYS = new byte[32];

    private Secrets() {}

    static byte[] hash(String secret) {
        return Sha256.of(secret);
    }

    /** By which a hash is looked up; how long that takes tells nothing of the secret. */
    static long beginning(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }
}
