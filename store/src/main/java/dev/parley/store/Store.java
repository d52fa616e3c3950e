package dev.parley.store;

import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * Everything a hub keeps on disk, in one SQLite database.
 *
 * <p>One process at a time may have a directory open. Safe for any thread.
 */
public final class Store implements AutoCloseable {
    private final Database database;
    private final AuditTrail audit;
    private final TaskLog log;
    private final PushStore webhooks;

    private Store(Database database, InstantSource clock, AtRest atRest) {
        this.database = database;
        var lanes = new Lanes(database);
        this.audit = AuditTrail.in(database, clock);
        atRest.check(database);
        var pushStore = new JdbcPushStore(database, lanes, clock, atRest);
        pushStore.sealAnew();
        this.log = new JdbcTaskLog(database, lanes, audit, clock, atRest, pushStore);
        this.webhooks = pushStore;
    }

    /**
     * Opens the store in {@code directory}, creating both if need be; nothing is encrypted.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Store open(Path directory) {
        return open(directory, InstantSource.system(), AtRest.PLAIN);
    }

    /**
     * {@link #open(Path)} with another clock, and with something encrypted.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written, or what was encrypted before
     *     cannot be read with these keys
     */
    public static Store open(Path directory, InstantSource clock, AtRest atRest) {
        return open(directory, clock, atRest, connection -> connection);
    }

    /**
     * {@link #open(Path, InstantSource, AtRest)} with all connections wrapped.
     *
     * @throws StoreException like that
     */
    public static Store open(Path directory, InstantSource clock, AtRest atRest, Database.Wrapper wrapper) {
        Database database = Database.open(directory, wrapper);
        try {
            return new Store(database, clock, atRest);
        } catch (RuntimeException refused) {
            database.close();
            throw refused;
        }
    }

    /** The logs of all tasks. Closing it closes the store. */
    public TaskLog log() {
        return log;
    }

    /** The webhooks of all tasks. */
    public PushStore webhooks() {
        return webhooks;
    }

    /** The record of who did what. */
    public AuditTrail audit() {
        return audit;
    }

    /** The database itself, for modules that keep their tables in it too. */
    public Database database() {
        return database;
    }

    /** Writes what was submitted and closes the database. Idempotent. */
    @Override
    public void close() {
        database.close();
    }
}
