package dev.parley.protocol.support;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC with SHA-256 (RFC 2104), which every Java platform has. */
public final class Hmac {
    private static final String ALGORITHM = "HmacSHA256";

    private Hmac() {}

    /** A key of these bytes. */
    public static SecretKeySpec key(byte[] secret) {
        return new SecretKeySpec(secret, ALGORITHM);
    }

    /** The 32 bytes of the code of several pieces, one after the other. */
    public static byte[] of(SecretKeySpec key, byte[]... pieces) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            for (byte[] piece : pieces) {
                mac.update(piece);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError("every Java platform has " + ALGORITHM, impossible);
        }
    }
}
