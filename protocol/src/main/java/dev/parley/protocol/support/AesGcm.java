package dev.parley.protocol.support;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Container of a value encrypted by AES-256-GCM: a random nonce of {@value #NONCE_BYTES} bytes, the ciphertext, and a tag of 16 bytes.
 *
 * <p>Source: NIST SP 800-38D.
 */
public final class AesGcm {
    public static final int KEY_BYTES = 32;
    public static final int NONCE_BYTES = 12;
    private static final int TAG_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private AesGcm() {}

    /**
     * Seals a value.
     *
     * @param associated data that is not encrypted, and without which the container does not open
     * @param head bytes that the result has before the container, for its caller to fill
     */
    public static byte[] seal(byte[] key, byte[] associated, byte[] plain, int head) {
        byte[] sealed = new byte[head + NONCE_BYTES + plain.length + TAG_BYTES];
        System.arraycopy(random(NONCE_BYTES), 0, sealed, head, NONCE_BYTES);
        try {
            cipher(Cipher.ENCRYPT_MODE, key, associated, sealed, head)
                    .doFinal(plain, 0, plain.length, sealed, head + NONCE_BYTES);
            return sealed;
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError("every Java platform has AES-GCM", impossible);
        }
    }

    /**
     * Opens the container that begins at {@code from}.
     *
     * @throws GeneralSecurityException if it was changed, or sealed with another key or other associated data
     */
    public static byte[] open(byte[] key, byte[] associated, byte[] sealed, int from) throws GeneralSecurityException {
        int start = from + NONCE_BYTES;
        return cipher(Cipher.DECRYPT_MODE, key, associated, sealed, from).doFinal(sealed, start, sealed.length - start);
    }

    private static Cipher cipher(int mode, byte[] key, byte[] associated, byte[] container, int from)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        var nonce = new GCMParameterSpec(TAG_BYTES * 8, container, from, NONCE_BYTES);
        cipher.init(mode, new SecretKeySpec(key, "AES"), nonce);
        cipher.updateAAD(associated);
        return cipher;
    }

    /** Random bytes for keys, salts and nonces. */
    public static byte[] random(int size) {
        byte[] bytes = new byte[size];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
