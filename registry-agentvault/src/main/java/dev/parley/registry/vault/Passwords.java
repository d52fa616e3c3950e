package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.FairPool;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.jspecify.annotations.Nullable;

/**
 * Hashes of passwords by Argon2id, with 19 MiB, 2 passes and 1 lane. Hashing takes tens of milliseconds, so it runs on a few platform
 * threads, which the addresses of clients share. Safe for any thread.
 *
 * <p>Source: RFC 9106; OWASP Password Storage Cheat Sheet.
 */
final class Passwords implements AutoCloseable {
    static final int LONGEST = 1_024;

    private static final int MEMORY_KIB = 19 * 1024;
    private static final int PASSES = 2;
    private static final int SALT_BYTES = 16;
    private static final int HASH_BYTES = 32;
    private static final String PREFIX = "$argon2id$v=19$m=" + MEMORY_KIB + ",t=" + PASSES + ",p=1$";
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int WAITING = 16;

    /** A hash lets nothing come between, so fewer are computed at a time than there are processors. */
    private static final int THREADS = Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 1, 4);

    private final FairPool pool = new FairPool("password", THREADS, Math.max(1, THREADS / 2), WAITING);
    private final SecureRandom random = new SecureRandom();

    /** Hash of no password, which is as much work as any other. */
    private final byte[] emptySalt = new byte[SALT_BYTES];

    /** The salt and the hash of a password. */
    String hash(String password, String address) {
        byte[] salt = new byte[SALT_BYTES];
        random.nextBytes(salt);
        byte[] hash = compute(address, password, salt);
        Base64.Encoder base64 = Base64.getEncoder().withoutPadding();
        return PREFIX + base64.encodeToString(salt) + "$" + base64.encodeToString(hash);
    }

    /** Compares in constant time. It takes as long if there is no hash, because the account does not exist. */
    boolean matches(String password, @Nullable String stored, String address) {
        if (stored == null || !stored.startsWith(PREFIX)) {
            var unused = compute(address, password, emptySalt);
            return false;
        }
        String[] parts = stored.substring(PREFIX.length()).split("\\$", 2);
        byte[] hash = compute(address, password, Base64.getDecoder().decode(parts[0]));
        return MessageDigest.isEqual(hash, Base64.getDecoder().decode(parts[1]));
    }

    private byte[] compute(String address, String password, byte[] salt) {
        Supplier<byte[]> work = () -> {
            var generator = new Argon2BytesGenerator();
            generator.init(new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
                    .withVersion(Argon2Parameters.ARGON2_VERSION_13)
                    .withMemoryAsKB(MEMORY_KIB)
                    .withIterations(PASSES)
                    .withParallelism(1)
                    .withSalt(salt)
                    .build());
            byte[] hash = new byte[HASH_BYTES];
            generator.generateBytes(password.getBytes(UTF_8), hash);
            return hash;
        };
        try {
            return pool.call(address, PATIENCE, work);
        } catch (RejectedExecutionException | TimeoutException busy) {
            throw VaultException.of(503, "Too many logins at present");
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw VaultException.of(503, "Interrupted");
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
