package dev.parley.hub.secrets;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Secrets of a hub in files, which only their owner can read. */
public final class SecretFile {
    /** Name of the file of the key that encrypts secrets in the database. */
    public static final String ENCRYPTION = "encryption.key";
    /** Name of the file of the secret that access tokens are signed with. */
    public static final String TOKENS = "token.secret";
    /** Name of the file of the secret that the secrets of webhooks and other keys are derived from. */
    public static final String WEBHOOKS = "webhook.master";
    /** Name of the file of the secret of all webhooks in earlier versions. */
    public static final String SHARED = "webhook.secret";

    /** All names. A hub has the last one only if it had it in an earlier version. */
    public static final List<String> NAMES = List.of(TOKENS, WEBHOOKS, ENCRYPTION, SHARED);

    /** Characters of a secret: 24 random bytes in Base64. */
    private static final int SHORTEST_SECRET = 32;

    private SecretFile() {}

    /** Reads a secret that is there. */
    public static String read(Path file) throws IOException {
        return require(Files.readString(file).strip(), "secret " + file, "restore the file from a backup");
    }

    /** @throws StoreException if a text is too short for a secret */
    static String require(String secret, String what, String advice) {
        if (secret.length() < SHORTEST_SECRET) {
            throw new StoreException(what + ": " + secret.length() + " characters (expected: at least "
                    + SHORTEST_SECRET + "; " + advice + ")");
        }
        return secret;
    }

    /** Makes the file of a secret, unless it is there. */
    static void create(Path file, String secret) throws IOException {
        try {
            OwnersOnly.create(file, secret.getBytes(StandardCharsets.UTF_8));
        } catch (FileAlreadyExistsException another) {
            // has been made by another process meanwhile, and is the one that counts
        }
    }
}
