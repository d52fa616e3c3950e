package dev.parley.hub.webhooks;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/** Secrets of a hub in files of its data directory, which only their owner can read. */
public final class SecretFile {
    /** Name of the file of the key that encrypts secrets in the database. */
    public static final String ENCRYPTION = "encryption.key";
    /** Name of the file of the secret that access tokens are signed with. */
    public static final String TOKENS = "token.secret";
    /** Characters of a secret: 24 random bytes in Base64. */
    private static final int SHORTEST_SECRET = 32;

    private SecretFile() {}

    /** Returns the secret in a file of {@code data}, which is made if it is missing. */
    public static String readOrMake(Path data, String name, Supplier<String> made) {
        Path file = data.resolve(name);
        try {
            if (!Files.exists(file)) {
                OwnersOnly.directory(data);
                create(file, made.get());
            }
            return read(file);
        } catch (IOException failure) {
            throw NotOpenedException.directory(data, failure);
        }
    }

    /** Reads a secret that is there. */
    public static String read(Path file) throws IOException {
        String secret = Files.readString(file).strip();
        if (secret.length() < SHORTEST_SECRET) {
            throw new StoreException("secret " + file + ": " + secret.length() + " characters (expected: at least "
                    + SHORTEST_SECRET + "; restore the file from a backup)");
        }
        return secret;
    }

    private static void create(Path file, String secret) throws IOException {
        try {
            OwnersOnly.create(file, secret.getBytes(StandardCharsets.UTF_8));
        } catch (FileAlreadyExistsException another) {
            // has been made by another process meanwhile, and is the one that counts
        }
    }
}
