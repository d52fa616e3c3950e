package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Authenticates texts that the hub hands out and gets back. Safe for any thread. Source: RFC 2104. */
final class Seal {
    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;

    /** @param purpose keeps texts of one purpose from being taken for those of another */
    Seal(byte[] key, String purpose) {
        this.key = new SecretKeySpec(mac(new SecretKeySpec(key, ALGORITHM), purpose), ALGORITHM);
    }

    /** The seal of a text, in the characters of a URL. */
    String of(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(mac(key, text));
    }

    /** Compares in constant time. */
    boolean fits(String text, String seal) {
        return MessageDigest.isEqual(of(text).getBytes(UTF_8), seal.getBytes(UTF_8));
    }

    private static byte[] mac(SecretKeySpec key, String text) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac.doFinal(text.getBytes(UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(ALGORITHM, e);
        }
    }
}
