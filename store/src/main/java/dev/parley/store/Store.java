package dev.parley.store;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskFilter;
import dev.parley.store.spi.Wrapper;
import dev.parley.store.tasks.JdbcPushStore;
import dev.parley.store.tasks.JdbcTaskLog;
import dev.parley.store.tasks.TaskOwners;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a hub keeps: tasks, webhooks and the audit, in one database, SQLite or PostgreSQL.
 *
 * <p>One process at a time may have a directory, or a schema of PostgreSQL, open. Safe for any thread.
 */
public final class Store implements AutoCloseable {
    private final Database database;
    private final AuditTrail audit;
    private final JdbcTaskLog log;
    private final JdbcPushStore webhooks;

    private Store(Database database, InstantSource clock, EncryptionAtRest atRest, AuditTrail audit, Once once) {
        this.database = database;
        var lanes = new TaskOwners(database, once);
        this.audit = audit;
        var pushStore = new JdbcPushStore(database, lanes, audit, clock, atRest, once);
        this.log = new JdbcTaskLog(database, lanes, audit, atRest, pushStore, once);
        this.webhooks = pushStore;
    }

    /**
     * Opens the store in {@code directory}, creating both if need be; nothing is encrypted.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Store open(Path directory) {
        return open(directory, InstantSource.system(), EncryptionAtRest.PLAIN);
    }

    /**
     * {@link #open(Path)} with another clock, and with something encrypted.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written, or what was encrypted before
     *     cannot be read with these keys
     */
    public static Store open(Path directory, InstantSource clock, EncryptionAtRest atRest) {
        return open(directory, clock, atRest, connection -> connection);
    }

    /**
     * {@link #open(Path, InstantSource, EncryptionAtRest)} with all connections wrapped.
     *
     * @throws StoreException like that
     */
    public static Store open(Path directory, InstantSource clock, EncryptionAtRest atRest, Wrapper wrapper) {
        return in(Database.open(directory, wrapper), clock, atRest);
    }

    /**
     * Opens the database of a data directory: the one of PostgreSQL at {@code url}, which the caller {@linkplain Database#name names} in
     * the directory once it uses it.
     *
     * @param url {@code postgresql://user:password@host:port/database}, with parameters of the JDBC driver; null for the database that
     *     the directory has or names
     * @param registration what the hub tells of itself
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database database(Path directory, @Nullable String url, Wrapper wrapper, Registration registration) {
        return url == null
                ? Database.open(directory, wrapper, registration)
                : Database.open(PostgresqlUrl.of(url, directory), wrapper, registration);
    }

    /**
     * Opens the store in a PostgreSQL database, version 15 or newer. Its tables are in the first schema of its search path.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written, or what was encrypted before
     *     cannot be read with these keys
     */
    public static Store open(DataSource source, InstantSource clock, EncryptionAtRest atRest) {
        return open(source, clock, atRest, connection -> connection);
    }

    /**
     * {@link #open(DataSource, InstantSource, EncryptionAtRest)} with all connections wrapped.
     *
     * @throws StoreException like that
     */
    public static Store open(DataSource source, InstantSource clock, EncryptionAtRest atRest, Wrapper wrapper) {
        return in(Database.open(source, wrapper), clock, atRest);
    }

    /** The store in an open database, which is closed with it, or if it is refused. */
    public static Store in(Database database, InstantSource clock, EncryptionAtRest atRest) {
        boolean isAtOnce = database.system() instanceof PostgresqlSystem postgresql && postgresql.isAtOnce();
        return in(database, clock, atRest, isAtOnce ? Once.CLAIM : Once.INDEX);
    }

    /** @param once when a message gets its task; a claim if other hubs write to the database, too */
    public static Store in(Database database, InstantSource clock, EncryptionAtRest atRest, Once once) {
        try {
            AuditTrail audit = AuditTrail.in(database, clock);
            atRest.check(database);
            var store = new Store(database, clock, atRest, audit, once);
            store.webhooks.sealAnew();
            database.storage().follow(database.access().feeds(), database);
            return store;
        } catch (RuntimeException refused) {
            database.close();
            throw refused;
        }
    }

    /**
     * Opens the store in {@code directory} for reading, also while a hub has it open. Writes fail.
     *
     * @throws StoreException if there is none, its tables are those of another version, or encrypted data cannot be read with these keys
     */
    public static Store openForReading(Path directory, EncryptionAtRest atRest) {
        Database database = Database.openForReading(directory);
        try {
            atRest.checkKeys(database);
            return new Store(database, InstantSource.system(), atRest, AuditTrail.reading(database), Once.INDEX);
        } catch (RuntimeException refused) {
            database.close();
            throw refused;
        }
    }

    /**
     * Lists tasks of all groups and agents in {@code directory}, also while a hub has it open. Nothing that is encrypted is read, so no
     * key is needed.
     *
     * @throws StoreException if there is none, or its tables are those of another version
     */
    public static List<TaskLog.Head> tasks(Path directory, TaskFilter filter) {
        try (Database database = Database.openForReading(directory)) {
            return new Store(
                            database,
                            InstantSource.system(),
                            EncryptionAtRest.PLAIN,
                            AuditTrail.reading(database),
                            Once.INDEX)
                    .log.newest(filter);
        }
    }

    /** Returns the names of the agents that have tasks, in alphabetical order, at most {@code limit}. */
    public List<String> agents(int limit) {
        return log.agents(limit);
    }

    /** The logs of all tasks. Closing it closes the store. */
    public TaskLog log() {
        return log;
    }

    /** Why webhooks that no Parley has written cannot be read, by their tasks; nothing is sent to them. */
    public Map<String, String> damagedWebhooks() {
        return webhooks.damaged();
    }

    /** The webhooks of all tasks. */
    public PushStore webhooks() {
        return webhooks;
    }

    /** The audit trail. */
    public AuditTrail audit() {
        return audit;
    }

    /** The database itself, for modules that keep their tables in it too. */
    public Database database() {
        return database;
    }

    /** Writes all submitted work and closes the database. Idempotent. */
    @Override
    public void close() {
        database.close();
    }
}
