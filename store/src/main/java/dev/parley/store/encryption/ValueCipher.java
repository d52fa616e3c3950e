package dev.parley.store.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.AesGcm;
import dev.parley.protocol.support.Hmac;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts stored values by AES-256-GCM: a copy of the database reveals nothing without the keys, and a value that was
 * changed or moved to another place is detected.
 *
 * <p>Each value has a key of its own, made from one of these and a random salt, so that the number of values that one key may encrypt (NIST
 * SP 800-38D, section 8.3) is no limit. Values that are not encrypted are read as they are. Safe for any thread.
 */
public final class ValueCipher {
    /** Begins a sealed value; no JSON begins so. */
    private static final byte SEALED = 1;

    private static final int ID_BYTES = 4;
    private static final int SALT_BYTES = 16;
    /** Position of the container, after the mark, the name of the key and the salt. */
    private static final int CONTAINER = 1 + ID_BYTES + SALT_BYTES;

    /** @param id the beginning of a hash of the key, by which a value says what opens it */
    private record Key(byte[] id, SecretKeySpec secret) {}

    private final List<Key> keys;

    private ValueCipher(List<Key> keys) {
        this.keys = keys;
    }

    /**
     * Seals with the first key, and opens with each.
     *
     * @param keys 32 bytes each, as Base64; others are put after the first when it takes their place
     * @throws IllegalArgumentException if the list is empty, or an element is not a key
     */
    public static ValueCipher of(List<String> keys) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("no key (expected: at least one)");
        }
        var read = new ArrayList<Key>();
        for (String key : keys) {
            byte[] bytes;
            try {
                bytes = Base64.getDecoder().decode(key.strip());
            } catch (IllegalArgumentException wrong) {
                throw new IllegalArgumentException("a key is not Base64 (expected: 32 bytes of it)", wrong);
            }
            if (bytes.length != AesGcm.KEY_BYTES) {
                throw new IllegalArgumentException("a key has " + bytes.length + " bytes (expected: 32)");
            }
            var secret = Hmac.key(bytes);
            read.add(new Key(Arrays.copyOf(Hmac.of(secret, "key id".getBytes(UTF_8)), ID_BYTES), secret));
        }
        return new ValueCipher(List.copyOf(read));
    }

    /**
     * Reads keys from a file, one in each line.
     *
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if there is none in it, or a line is not a key
     */
    public static ValueCipher read(Path file) throws IOException {
        return of(Files.readAllLines(file).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList());
    }

    /** A new key, as Base64. */
    public static String newKey() {
        return Base64.getEncoder().encodeToString(AesGcm.random(AesGcm.KEY_BYTES));
    }

    /** The name of the key that seals, which tells nothing of it. */
    String keyId() {
        return HexFormat.of().formatHex(keys.getFirst().id);
    }

    /** The {@linkplain SecretPrints fingerprints} of the keys, the one that seals first. */
    public List<String> prints(String name) {
        return keys.stream().map(key -> SecretPrints.of(name, key.secret)).toList();
    }

    /** True if a key has this name. */
    boolean has(String keyId) {
        return keys.stream().anyMatch(key -> HexFormat.of().formatHex(key.id).equals(keyId));
    }

    /** True if a value is sealed by the key that seals now. */
    public boolean isCurrent(byte[] stored) {
        return isSealed(stored) && isBy(keys.getFirst(), stored);
    }

    static boolean isSealed(byte[] stored) {
        return stored.length > CONTAINER + AesGcm.NONCE_BYTES && stored[0] == SEALED;
    }

    private static boolean isBy(Key key, byte[] stored) {
        return Arrays.equals(stored, 1, 1 + ID_BYTES, key.id, 0, ID_BYTES);
    }

    /**
     * Seals a value.
     *
     * @param place where it is kept; elsewhere it does not open
     */
    public byte[] seal(byte[] plain, String place) {
        Key key = keys.getFirst();
        byte[] salt = AesGcm.random(SALT_BYTES);
        byte[] sealed = AesGcm.seal(Hmac.of(key.secret, salt), place.getBytes(UTF_8), plain, CONTAINER);
        ByteBuffer.wrap(sealed).put(SEALED).put(key.id).put(salt);
        return sealed;
    }

    /**
     * Opens a value; one that was not sealed is returned as it is.
     *
     * @throws StoreException if its key is not here, or it was changed, or put elsewhere
     */
    public byte[] open(byte[] stored, String place) {
        if (!isSealed(stored)) {
            return stored;
        }
        for (Key key : keys) {
            if (isBy(key, stored)) {
                byte[] salt = Arrays.copyOfRange(stored, 1 + ID_BYTES, CONTAINER);
                try {
                    return AesGcm.open(Hmac.of(key.secret, salt), place.getBytes(UTF_8), stored, CONTAINER);
                } catch (GeneralSecurityException changed) {
                    throw new StoreException(place + " was changed, or is not what was put there", changed);
                }
            }
        }
        throw new StoreException(place + " is encrypted by the key "
                + HexFormat.of().formatHex(stored, 1, 1 + ID_BYTES)
                + ", which is not there (expected: the newest key first, and every older one after it)");
    }
}
