package dev.parley.hub;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.hub.extensions.TemporaryDirectory;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.hub.secrets.SecretMatch;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.store.Store;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.memories.JdbcMemories;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Registration;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tasks and secrets of a hub, in memory or on disk. Database, audit and memories are null if the hub has none. */
record Persistence(
        TaskLog log,
        PushStore webhooks,
        WebhookSecrets secrets,
        String tokenSecret,
        @Nullable ValueCipher cipher,
        @Nullable Database database,
        @Nullable AuditTrail audit,
        @Nullable Memories memories) {
    /** Opens the stores and adds them to {@code parts}, which closes them. */
    static Persistence open(Setup setup, OpenParts parts, Registration registration) {
        Path data = setup.data();
        if (data != null) {
            return onDisk(data, setup, parts, registration);
        }
        Database database = null;
        if (setup.authenticates()) {
            Path scratch = TemporaryDirectory.create();
            parts.add(() -> TemporaryDirectory.remove(scratch));
            database = parts.add(Database.temporary(scratch));
        }
        var log = new MemoryTaskLog();
        AuditTrail audit = database == null ? null : AuditTrail.in(database, InstantSource.system());
        return new Persistence(
                log,
                log.webhooks(),
                WebhookSecrets.random(),
                StandardWebhooks.newSecret(),
                null,
                database,
                audit,
                null);
    }

    private static Persistence onDisk(Path data, Setup setup, OpenParts parts, Registration registration) {
        String url = setup.settings.store().database();
        if (url != null) {
            Database.check(data, url);
        }
        SecretDirectory directory = setup.secrets(data);
        ValueCipher keys = setup.keys();
        List<String> files = keys == null
                ? List.of(SecretFile.TOKENS, SecretFile.WEBHOOKS, SecretFile.ENCRYPTION)
                : List.of(SecretFile.TOKENS, SecretFile.WEBHOOKS);
        directory.require(files);
        var match = new SecretMatch(directory, keys);
        match.require(SecretPrints.ahead(data, url));
        Database database = parts.add(Store.database(data, url, setup.given.connections, registration));
        match.require(SecretPrints.open(database));
        if (database.kind() == DatabaseKind.POSTGRESQL
                && directory.find(SecretFile.TOKENS).isEmpty()) {
            System.getLogger("dev.parley.hub")
                    .log(
                            System.Logger.Level.WARNING,
                            "the secrets of the database are made in {0}: keep that directory, or use --secrets",
                            data);
        }
        EncryptionAtRest atRest = setup.encryption(directory, keys);
        WebhookSecrets secrets = WebhookSecrets.in(directory);
        secrets.warnOfShared();
        String tokenSecret = directory.get(SecretFile.TOKENS, StandardWebhooks::newSecret);
        match.record(database);
        Store store = Store.in(database, InstantSource.system(), atRest);
        if (url != null) {
            Database.name(data, url);
        }
        database.storage().limit(setup.settings.store().quotas());
        if (directory.isOwn()) {
            files.forEach(name -> database.keep(data, name));
        }
        return new Persistence(
                store.log(),
                store.webhooks(),
                secrets,
                tokenSecret,
                atRest.cipher(),
                database,
                store.audit(),
                new JdbcMemories(database, InstantSource.system(), atRest));
    }
}
