package dev.parley.client.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.AesGcm;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A file that stands in for a keyring: AES-256-GCM over all secrets, so that a change is noticed as well.
 *
 * <p>It is replaced as a whole, under a lock that other processes respect, and only its owner may read it. Safe
 * for any thread.
 */
final class EncryptedFile implements Keyring {
    /** The secret that opens the file. */
    sealed interface Opener {
        /** Derivation of the key, from the file. */
        String method();

        byte[] key(byte[] salt, int rounds) throws GeneralSecurityException, IOException;

        /** Gets ready for a file that does not exist yet. */
        void prepare() throws IOException;
    }

    /** Many rounds, because people choose passphrases that can be guessed. */
    record Passphrase(char[] text) implements Opener {
        Passphrase {
            if (text.length == 0) {
                throw new IllegalArgumentException("passphrase: empty (expected: at least one character)");
            }
            text = text.clone();
        }

        @Override
        public String method() {
            return "PBKDF2WithHmacSHA512";
        }

        @Override
        public byte[] key(byte[] salt, int rounds) throws GeneralSecurityException {
            var spec = new PBEKeySpec(text, salt, rounds, KEY_BYTES * 8);
            try {
                return SecretKeyFactory.getInstance(method())
                        .generateSecret(spec)
                        .getEncoded();
            } finally {
                spec.clearPassword();
            }
        }

        @Override
        public void prepare() {}

        @Override
        public String toString() {
            return "Passphrase[" + Redaction.MASK + "]";
        }
    }

    /** Random bytes, of which nothing has to be made slow. */
    record KeyFile(Path file) implements Opener {
        @Override
        public String method() {
            return "HmacSHA256";
        }

        @Override
        public byte[] key(byte[] salt, int rounds) throws GeneralSecurityException, IOException {
            byte[] content = Files.readAllBytes(file);
            if (OwnersOnly.isReadByOthers(file)) {
                throw new ClientException(
                        Problem.KEYS, "others may read the key file " + file + " (expected: chmod 600 " + file + ")");
            }
            if (content.length < KEY_BYTES) {
                throw new ClientException(
                        Problem.KEYS,
                        "the key file " + file + " has " + content.length + " bytes (expected: at least " + KEY_BYTES
                                + ")");
            }
            Mac mac = Mac.getInstance(method());
            mac.init(new SecretKeySpec(content, method()));
            return mac.doFinal(salt);
        }

        @Override
        public void prepare() throws IOException {
            if (Files.notExists(file)) {
                Files.createDirectories(file.toAbsolutePath().getParent());
                OwnersOnly.replace(file, Base64.getEncoder().encode(AesGcm.random(AesGcm.KEY_BYTES)));
            }
        }
    }

    /** The unencrypted part of the file; none of it can be changed without the encrypted part becoming unreadable. */
    private record Head(String method, int rounds, byte[] salt) {
        byte[] sealed() {
            return (FORMAT + " " + method + " " + rounds + " "
                            + Base64.getEncoder().encodeToString(salt))
                    .getBytes(UTF_8);
        }
    }

    private static final String FORMAT = "parley-keys-1";
    private static final int KEY_BYTES = AesGcm.KEY_BYTES;
    private static final int SALT_BYTES = 16;
    /** About a third of a second. */
    private static final int ROUNDS = 300_000;

    private static final int MOST_ROUNDS = 10_000_000;
    /** A process may hold the lock of a file only once. */
    private static final ReentrantLock WRITING = new ReentrantLock();

    private final Path file;
    private final Opener opener;
    private final ReentrantLock lock = new ReentrantLock();
    /** The last key that was made, for it takes so long, and what it was made from; guarded by the lock. */
    private byte @Nullable [] key;

    private @Nullable Head madeFrom;

    EncryptedFile(Path file, Opener opener) {
        this.file = file;
        this.opener = opener;
    }

    @Override
    public Optional<String> read(String service, String user) {
        return Optional.ofNullable(secrets().getOrDefault(service, Map.of()).get(user));
    }

    @Override
    public void write(String service, String user, String secret) {
        change(secrets -> {
            secrets.computeIfAbsent(service, name -> new TreeMap<>()).put(user, secret);
            return secrets;
        });
    }

    @Override
    public boolean remove(String service, String user) {
        if (read(service, user).isEmpty()) {
            return false;
        }
        change(secrets -> {
            secrets.getOrDefault(service, new TreeMap<>()).remove(user);
            secrets.values().removeIf(Map::isEmpty);
            return secrets;
        });
        return true;
    }

    @Override
    public Set<String> services() {
        return secrets().keySet();
    }

    /** Entries by service, then by user. */
    private Map<String, Map<String, String>> secrets() {
        lock.lock();
        try {
            return parse(Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            if (Files.notExists(file)) {
                return new TreeMap<>();
            }
            throw new ClientException(Problem.KEYS, file + " cannot be opened: there is no " + e.getMessage(), e);
        } catch (IOException e) {
            throw new ClientException(Problem.KEYS, file + " cannot be read: " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    private void change(UnaryOperator<Map<String, Map<String, String>>> change) {
        WRITING.lock();
        lock.lock();
        try {
            Path place = file.toAbsolutePath();
            Files.createDirectories(place.getParent());
            try (var others = FileChannel.open(
                            place.resolveSibling(file.getFileName() + ".lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
                    var ignored = others.lock()) {
                if (Files.notExists(file)) {
                    opener.prepare();
                }
                OwnersOnly.replace(place, encrypted(change.apply(secrets())));
            }
        } catch (IOException e) {
            throw new ClientException(Problem.KEYS, file + " cannot be written: " + e.getMessage(), e);
        } finally {
            lock.unlock();
            WRITING.unlock();
        }
    }

    private Map<String, Map<String, String>> parse(byte[] content) throws IOException {
        try {
            Map<?, ?> read = Json.read(content, Map.class);
            var head = new Head(text(read, "kdf"), rounds(read), bytes(read, "salt"));
            if (!text(read, "format").equals(FORMAT)) {
                throw new IllegalArgumentException("format");
            }
            if (!head.method().equals(opener.method())) {
                throw new ClientException(
                        Problem.KEYS,
                        file + " is opened by " + (opener instanceof KeyFile ? "a passphrase" : "a key file")
                                + " (given: " + (opener instanceof KeyFile ? "a key file" : "a passphrase") + ")");
            }
            byte[] nonce = bytes(read, "nonce");
            byte[] data = bytes(read, "data");
            if (nonce.length != AesGcm.NONCE_BYTES) {
                throw new IllegalArgumentException("nonce");
            }
            byte[] sealed = Arrays.copyOf(nonce, nonce.length + data.length);
            System.arraycopy(data, 0, sealed, nonce.length, data.length);
            byte[] plain = AesGcm.open(key(head), head.sealed(), sealed, 0);
            var secrets = new TreeMap<String, Map<String, String>>();
            Map<?, ?> services = Json.read(plain, Map.class);
            services.forEach((service, users) -> {
                var kept = new TreeMap<String, String>();
                ((Map<?, ?>) users).forEach((user, secret) -> kept.put((String) user, (String) secret));
                secrets.put((String) service, kept);
            });
            return secrets;
        } catch (A2AException | IllegalArgumentException | ClassCastException e) {
            throw new ClientException(Problem.KEYS, file + " is not an encrypted file of keys");
        } catch (GeneralSecurityException e) {
            throw new ClientException(
                    Problem.KEYS, file + " cannot be opened: another passphrase or key, or it was changed", e);
        }
    }

    private byte[] encrypted(Map<String, Map<String, String>> secrets) throws IOException {
        Base64.Encoder base64 = Base64.getEncoder();
        Head head = madeFrom == null ? new Head(opener.method(), ROUNDS, AesGcm.random(SALT_BYTES)) : madeFrom;
        try {
            ByteBuffer sealed = ByteBuffer.wrap(AesGcm.seal(key(head), head.sealed(), Json.write(secrets), 0));
            return Json.write(new TreeMap<>(Map.of(
                    "format",
                    FORMAT,
                    "kdf",
                    head.method(),
                    "rounds",
                    head.rounds(),
                    "salt",
                    base64.encodeToString(head.salt()),
                    "nonce",
                    base64.encodeToString(part(sealed, AesGcm.NONCE_BYTES)),
                    "data",
                    base64.encodeToString(part(sealed, sealed.remaining())))));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has AES and PBKDF2", e);
        }
    }

    private byte[] key(Head head) throws GeneralSecurityException, IOException {
        lock.lock();
        try {
            byte[] known = key;
            if (known == null || madeFrom == null || !Arrays.equals(madeFrom.sealed(), head.sealed())) {
                known = opener.key(head.salt(), head.rounds());
                key = known;
                madeFrom = head;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    private static byte[] part(ByteBuffer sealed, int length) {
        byte[] part = new byte[length];
        sealed.get(part);
        return part;
    }

    private static String text(Map<?, ?> read, String name) {
        return read.get(name) instanceof String text ? text : "";
    }

    private static byte[] bytes(Map<?, ?> read, String name) {
        return Base64.getDecoder().decode(text(read, name));
    }

    /** Fewer rounds than are written would ease guessing; more than the most would exhaust this program. */
    private static int rounds(Map<?, ?> read) {
        int rounds = read.get("rounds") instanceof Number number ? number.intValue() : 0;
        if (rounds < ROUNDS || rounds > MOST_ROUNDS) {
            throw new IllegalArgumentException("rounds");
        }
        return rounds;
    }
}
