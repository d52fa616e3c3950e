package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Hashes of secrets: one round of SHA-256, which is enough for long random ones. */
final class Secrets {
    /** Dummy hash for unknown names, so that a comparison takes as long. */
    static final byte[] NOBODYS = new byte[32];

    private Secrets() {}

    static byte[] hash(String secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    /** By which a hash is looked up; how long that takes tells nothing of the secret. */
    static long beginning(byte[] hash) {
        return ByteBuffer.wrap(hash).getLong();
    }
}
