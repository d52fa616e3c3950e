package dev.parley.store.encryption;

import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encryption at rest: of webhooks, because they contain tokens of third parties, and optionally of the contents of tasks.
 *
 * @param cipher the keys; null for none, and then nothing is encrypted
 * @param tasks whether tasks are encrypted from now on; those that were before are read with the same keys either way
 */
public record EncryptionAtRest(@Nullable ValueCipher cipher, boolean tasks) {
    /** Nothing is encrypted. */
    public static final EncryptionAtRest PLAIN = new EncryptionAtRest(null, false);

    /** Tables of the keys. */
    public static final ModuleTables TABLES = new ModuleTables("sealing", List.of("""
            -- Which keys tasks were encrypted with, so that a missing one shows when the hub starts.
            CREATE TABLE sealing_key (key_id TEXT PRIMARY KEY);
            """));

    /** @throws IllegalArgumentException if tasks are to be encrypted, and there is no key */
    public EncryptionAtRest {
        if (tasks && cipher == null) {
            throw new IllegalArgumentException("tasks are to be encrypted without a key (expected: one)");
        }
    }

    public byte[] webhook(byte[] plain, String place) {
        return cipher == null ? plain : cipher.seal(plain, place);
    }

    public byte[] task(byte[] plain, String place) {
        return tasks ? requireNonNull(cipher).seal(plain, place) : plain;
    }

    public byte[] open(byte[] stored, String place) {
        if (cipher != null) {
            return cipher.open(stored, place);
        }
        if (ValueCipher.isSealed(stored)) {
            throw new StoreException(place + " is encrypted, and there is no key (expected: the one it was made with)");
        }
        return stored;
    }

    /** Looks whether all keys are there that tasks were encrypted with, and remembers the one that is used now. */
    public void check(Database database) {
        database.migrate(TABLES);
        checkKeys(database);
        if (tasks) {
            String id = requireNonNull(cipher).keyId();
            database.write(session ->
                    session.update("INSERT INTO sealing_key (key_id) VALUES (?) ON CONFLICT DO NOTHING", id));
        }
    }

    /** Looks whether all keys are there that tasks were encrypted with. */
    public void checkKeys(Database database) {
        for (String id : usedFor(database)) {
            if (cipher == null || !cipher.has(id)) {
                throw new StoreException("tasks are encrypted by the key " + id
                        + ", which is not there (expected: the newest key first, and every older one after it)");
            }
        }
    }

    private static List<String> usedFor(Database database) {
        return database.read(
                session -> session.number("SELECT count(*) FROM module_version WHERE module = 'sealing'") == 0
                        ? List.<String>of() // no hub has run here yet
                        : session.list(row -> DatabaseSession.text(row, 1), "SELECT key_id FROM sealing_key"));
    }
}
