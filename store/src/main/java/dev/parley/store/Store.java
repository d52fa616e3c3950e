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

    private Store(Database database, InstantSource clock) {
        this.database = database;
        var lanes = new Lanes(database);
        this.audit = AuditTrail.in(database, clock);
        this.log = new JdbcTaskLog(database, lanes, audit, clock);
        this.webhooks = new JdbcPushStore(database, lanes, clock);
    }

    /**
     * Opens the store in {@code directory}, creating both if need be.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Store open(Path directory) {
        return open(directory, InstantSource.system());
    }

    /** {@link #open(Path)} with another clock. */
    public static Store open(Path directory, InstantSource clock) {
        return new Store(Database.open(directory), clock);
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
