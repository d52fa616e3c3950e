package dev.parley.store;

import static dev.parley.protocol.settings.SettingSpec.Trait.REPEATABLE;
import static dev.parley.protocol.settings.SettingSpec.Trait.SECRET;
import static dev.parley.protocol.settings.SettingType.DURATION;
import static dev.parley.protocol.settings.SettingType.PATH;
import static dev.parley.protocol.settings.SettingType.TEXT;

import dev.parley.protocol.settings.SettingReader;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.Quotas;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the database and of its encryption; {@link #read} states their names, defaults and units.
 *
 * @param cluster whether other hubs may have the database open, too
 * @param quotas limits of the bytes that groups keep
 * @param retention zero to keep ended tasks for ever
 * @param secrets directory with the secrets of the hub, which is only read; null if they are in {@code data}
 */
public record StoreSettings(
        Path data,
        @Nullable String database,
        boolean cluster,
        boolean inMemory,
        Duration retention,
        Quotas quotas,
        List<String> encryptionKeys,
        @Nullable Path encryptionKeyFile,
        @Nullable Path secrets,
        boolean encryptTasks) {

    public StoreSettings {
        if (inMemory && cluster) {
            throw new IllegalArgumentException(
                    "--cluster with --in-memory: hubs have nothing to share (expected: one of them)");
        }
        if (inMemory && !quotas.equals(Quotas.NONE)) {
            throw new IllegalArgumentException(
                    "--group-quota with --in-memory: nothing is kept that could be limited (expected: one of them)");
        }
        if (inMemory && secrets != null) {
            throw new IllegalArgumentException(
                    "--secrets with --in-memory: a hub in memory makes its own secrets (expected: one of them)");
        }
    }

    /** Reads the settings of a store. */
    public static StoreSettings read(SettingReader in) {
        return new StoreSettings(
                in.get(PATH, "data", ".parley", "DIR", "Directory of the database; made if missing."),
                in.find(
                        TEXT,
                        "database",
                        "URL",
                        "PostgreSQL 15 or newer instead of SQLite, as postgresql://user@host/name. Kept in the data"
                                + " directory, so that later starts and other commands find it. A flag is visible to"
                                + " other users: leave the password in ~/.pgpass, or use PARLEY_DATABASE.",
                        SECRET),
                in.flag(
                        "cluster",
                        "Let other hubs with this flag work with the same PostgreSQL database at the same time: any of them"
                                + " answers for all, and the others go on with the tasks of one that ends."),
                in.flag("in-memory", "Keep tasks in memory only; they end with the process."),
                in.get(DURATION, "retention", "0", "DURATION", "How long ended tasks are kept; 0 for ever."),
                Quotas.of(in.list(
                        "group-quota",
                        "[GROUP=]SIZE",
                        "Limit of the data that each group keeps, or one group, such as 10GB or acme=500MB; 0 for none;"
                                + " repeatable.",
                        REPEATABLE)),
                in.list(
                        "encryption-key",
                        "KEY",
                        "Encrypt the data directory's secrets by this key: 32 bytes as Base64; of several, the first"
                                + " encrypts, and the others are older ones. Do not set it on the command line, which"
                                + " other users can read.",
                        REPEATABLE,
                        SECRET),
                in.find(
                        PATH,
                        "encryption-key-file",
                        "FILE",
                        "The same from a file, one key in each line. Without either: encryption.key in the data"
                                + " directory."),
                in.find(
                        PATH,
                        "secrets",
                        "DIR",
                        "Read token.secret, webhook.master and encryption.key from this directory instead of the data"
                                + " directory, such as a mounted secret of Kubernetes. Nothing is written there."),
                in.flag("encrypt-tasks", "Also encrypt messages, artifacts and other contents of tasks on disk."));
    }

    /**
     * The keys that are set; null if there are none.
     *
     * @throws IllegalArgumentException if one is no key, or keys and a file of keys are set
     */
    public @Nullable ValueCipher encryption() throws IOException {
        if (!encryptionKeys.isEmpty() && encryptionKeyFile != null) {
            throw new IllegalArgumentException(
                    "--encryption-key and --encryption-key-file together (expected: one of them)");
        }
        if (encryptionKeyFile != null) {
            return ValueCipher.read(encryptionKeyFile);
        }
        return encryptionKeys.isEmpty() ? null : ValueCipher.of(encryptionKeys);
    }
}
