package dev.parley.store.database;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.FairPool;
import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.connection.OpeningProblem;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.files.DataFiles;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskTables;
import dev.parley.store.spi.Wrapper;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database with one writer, which commits in groups, and a few readers: SQLite, or PostgreSQL.
 *
 * <p>The writer is a platform thread: it takes all work that waits and writes it in one transaction. While the disk is busy
 * more work gathers, so that the groups grow with the load. A virtual thread tells the works of a group how they ended, while
 * the writer writes the next group.
 *
 * <p>Readers are connections that calling threads borrow. The native calls hold on to a virtual thread's carrier, which is no loss for
 * the microseconds that a lookup takes. Several modules may write to their tables in one transaction. Safe for any thread.
 */
public final class Database extends SlicedWrites implements AutoCloseable {
    private static final int READERS = 4;
    /** Scans at the same time, half of them of one group; so many more connections are for them. */
    private static final int SCANS = 4;

    /** Scans of a group that wait. */
    private static final int WAITING_SCANS = 1_000;

    private static final Duration LATER = Duration.ofSeconds(1);

    private final DatabaseSystem system;
    private final DataFiles files;
    private final boolean readOnly;
    private final Readers readers;
    private final Readers scanReaders;
    private final FairPool scans = new FairPool("scan", SCANS, WAITING_SCANS);
    private final List<Readers> allReaders = new CopyOnWriteArrayList<>();
    private final Writer writer;
    private final @Nullable Checkpointer checkpointer;
    private final Storage storage;
    private final DatabaseAccess access = new DatabaseAccess(() -> this.open);
    private volatile boolean open = true;

    /** @param place directory or URL without credentials, for operators */
    private Database(DatabaseSystem system, DataFiles files, String place, DatabaseSession writing, boolean readOnly)
            throws SQLException {
        this.system = system;
        this.files = files;
        this.readOnly = readOnly;
        try {
            this.readers = readers(READERS, system.readPatience());
            this.scanReaders = readers(SCANS);
        } catch (SQLException | RuntimeException failure) {
            writing.discard(); // frees the lock of the database
            allReaders.forEach(Readers::discardIdle);
            throw failure;
        }
        this.checkpointer = system.kind() == DatabaseKind.SQLITE
                ? new Checkpointer(this, files, new Opening(system, Use.MAINTAIN))
                : null;
        this.writer = new Writer(system, files, place, () -> open, checkpointer, writing, access::end);
        if (checkpointer != null) {
            checkpointer.start();
        }
        this.storage = new Storage(system);
        if (!readOnly) {
            try {
                listen(storage);
                read(session -> {
                    storage.reopened(session);
                    return storage;
                });
            } catch (RuntimeException failure) {
                close();
                throw failure;
            }
        }
    }

    /**
     * Opens the database of {@code directory}: of SQLite in it, creating both if need be, for their owner alone, or the one of
     * PostgreSQL that it {@linkplain #name names}.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(Path directory) {
        return open(directory, connection -> connection);
    }

    /** {@link #open(Path)} with all connections wrapped. */
    public static Database open(Path directory, Wrapper wrapper) {
        return open(directory, wrapper, Registration.ALONE);
    }

    /**
     * {@link #open(Path, Wrapper)} of a hub that tells of itself.
     *
     * @throws StoreException as of {@link #open(DataSource, Wrapper, Registration)}, or if the hub shares a database of SQLite
     */
    public static Database open(Path directory, Wrapper wrapper, Registration registration) {
        PostgresqlUrl named = PostgresqlUrl.in(directory);
        if (named != null) {
            return open(named, wrapper, registration);
        }
        if (registration.isShared()) {
            throw new NotOpenedException(
                    NotOpenedException.Reason.SETTING,
                    "--cluster with a database of SQLite in " + directory
                            + ", which one hub has alone (expected: --database with the URL of PostgreSQL)");
        }
        return of(SqliteSystem.open(directory, true, wrapper), directory, false);
    }

    /**
     * Opens a database in a directory that ends with the process. Nothing is refused if its files are removed meanwhile, which those
     * who clean up temporary files do.
     *
     * @throws StoreException if it cannot be read or written
     */
    public static Database temporary(Path directory) {
        return of(SqliteSystem.open(directory, false, connection -> connection), directory, false);
    }

    /**
     * Opens the database of {@code directory} for reading, also while a hub has it open. Writes fail.
     *
     * @throws StoreException if there is none, or it cannot be read
     */
    public static Database openForReading(Path directory) {
        return openForReading(directory, null);
    }

    /** {@link #openForReading(Path)} of a hub that may not have opened it yet, in {@code url} if the directory names no database. */
    public static Database openForReading(Path directory, @Nullable String url) {
        PostgresqlUrl named = url == null || isNamed(directory) ? PostgresqlUrl.in(directory) : new PostgresqlUrl(url);
        return named == null ? of(SqliteSystem.openForReading(directory), directory, true) : openForReading(named);
    }

    private static Database of(SqliteSystem.Opened opened, Path directory, boolean readOnly) {
        try {
            return new Database(opened.system(), opened.files(), directory.toString(), opened.writing(), readOnly);
        } catch (SQLException problem) {
            opened.files().close();
            throw NotOpenedException.directory(directory, problem);
        } catch (RuntimeException refused) {
            opened.files().close();
            throw refused;
        }
    }

    private static Database openForReading(PostgresqlUrl named) {
        try {
            var system = new PostgresqlSystem(
                    named, connection -> connection, Duration.ZERO, Registration.ALONE, Release.current());
            var refused = new Opening(Database::refuseWriting, Use.WRITE);
            return new Database(system, DataFiles.none(), named.toString(), new DatabaseSession(refused), true);
        } catch (SQLException problem) {
            throw OpeningProblem.of(named, problem);
        }
    }

    private static Connection refuseWriting(Use use) throws SQLException {
        throw new SQLException("the database is open for reading only");
    }

    /**
     * Has {@code directory} name a database of PostgreSQL, which is opened from then on where the directory is.
     *
     * @param url {@code postgresql://user:password@host:port/database}, with parameters of the JDBC driver
     * @throws NotOpenedException if the directory has a database of SQLite or cannot be written, or the URL is not one of PostgreSQL
     */
    public static void name(Path directory, String url) {
        PostgresqlUrl.name(directory, url);
    }

    /** Whether a data directory names a database of PostgreSQL. */
    public static boolean isNamed(Path directory) {
        return PostgresqlUrl.in(directory) != null;
    }

    /**
     * Refuses a URL that cannot name the database of {@code directory}. Connects to nothing, and writes nothing.
     *
     * @throws NotOpenedException if the directory has a database of SQLite, or the URL is not one of PostgreSQL
     */
    public static void check(Path directory, String url) {
        PostgresqlUrl.of(url, directory);
    }

    /** The tables of tasks, compared with those of this program. */
    public TaskTables taskTables() {
        return read(system::taskTables);
    }

    /**
     * Looks whether a hub has the database of {@code directory} open. Takes nothing from one that runs: its lock refuses the
     * attempt. Where none runs, a shared lock is held for the moment of the attempt.
     *
     * @throws IOException if the lock cannot be tried
     */
    public static boolean isInUse(Path directory) throws IOException {
        PostgresqlUrl named = PostgresqlUrl.in(directory);
        return named == null ? DataFiles.isLocked(directory) : PostgresqlSystem.isInUse(named);
    }

    /**
     * Returns how the files of {@code directory} differ from those that the hub which runs on it has open, and for which it refuses
     * changes; empty if they do not differ, or no hub runs.
     *
     * @throws IOException if they cannot be read
     */
    public static List<String> fileProblems(Path directory) throws IOException {
        return PostgresqlUrl.in(directory) == null ? DataFiles.problems(directory) : List.of();
    }

    /**
     * Opens a PostgreSQL database, version 15 or newer. Its tables are in the first schema of its search path.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(DataSource source) {
        return open(source, connection -> connection, PostgresqlSystem.PATIENCE);
    }

    /** {@link #open(DataSource)} with all connections wrapped. */
    public static Database open(DataSource source, Wrapper wrapper) {
        return open(source, wrapper, PostgresqlSystem.PATIENCE);
    }

    /** @param patience how long works wait for a database that does not answer before they are refused */
    public static Database open(DataSource source, Wrapper wrapper, Duration patience) {
        return open(source, wrapper, patience, Registration.ALONE, Release.current());
    }

    /**
     * {@link #open(DataSource, Wrapper)} of a hub that tells of itself. If it takes turns with others, this waits for its turn; an
     * interrupt of the thread ends that.
     *
     * @throws StoreException if another process has it open without sharing it, it cannot be read or written, or the thread was interrupted
     */
    public static Database open(DataSource source, Wrapper wrapper, Registration registration) {
        return open(source, wrapper, PostgresqlSystem.PATIENCE, registration, Release.current());
    }

    static Database open(
            DataSource source, Wrapper wrapper, Duration patience, Registration registration, Release release) {
        var system = new PostgresqlSystem(source, wrapper, patience, registration, release);
        var writing = new DatabaseSession(new Opening(system, Use.WRITE));
        HubLease lease = HubStart.begin(source, system, registration, writing);
        try {
            var database = new Database(system, DataFiles.none(), system.toString(), writing, false);
            database.access.hold(lease, database.writer::end, database.writer::findServer, database.readers);
            return database;
        } catch (SQLException problem) {
            lease.abandon();
            throw OpeningProblem.of(source, problem);
        } catch (RuntimeException refused) {
            lease.abandon();
            throw refused;
        }
    }

    /** Returns the database system, for SQL that differs. */
    @Override
    public DatabaseKind kind() {
        return system.kind();
    }

    public DatabaseSystem system() {
        return system;
    }

    /** {@link #migrate(ModuleTables)} of tables with these scripts. */
    public void migrate(String module, List<String> scripts) {
        migrate(new ModuleTables(module, scripts));
    }

    /**
     * Makes or changes the tables of a module. Each script is run once, in a transaction of its own, in their order.
     *
     * @throws StoreException if the tables are newer than that and cannot be read by this program, or cannot be made
     */
    public void migrate(ModuleTables tables) {
        try {
            new Upgrades(this, this::unhurried, system, storage).module(tables);
        } catch (SQLException impossible) {
            throw new StoreException("the tables of " + tables.module(), impossible);
        }
    }

    /**
     * Finishes an upgrade of hubs that share a database of PostgreSQL, one of which this is: all write the forms of this release from now
     * on, and what only older ones read is changed or removed. Hubs of an older level do not start any more.
     *
     * @param known tables of modules, in the order in which they are made
     * @return names of the modules whose tables were changed
     * @throws StoreException if a hub that has not ended is of an older level; nothing has changed then
     */
    public List<String> finishUpgrade(List<ModuleTables> known) {
        try {
            return new Upgrades(this, this::unhurried, system, storage)
                    .finishAll((PostgresqlSystem) system, access().epochs(), known);
        } catch (SQLException impossible) {
            throw new StoreException("the upgrade", impossible);
        }
    }

    /** Does what may take the database longer than others' works wait, such as changes of tables at the start. */
    <T extends @Nullable Object> T unhurried(Supplier<T> work) {
        writer.takeTime(true);
        try {
            return work.get();
        } finally {
            writer.takeTime(false);
        }
    }

    /** Bytes that groups keep, and their quotas. Empty if the database is open for reading only. */
    public Storage storage() {
        return storage;
    }

    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Watches a file of a data directory that was read at the start and that the next start needs: nothing is written while it is
     * missing or has another content.
     *
     * @throws NotOpenedException if it cannot be read
     */
    public void keep(Path directory, String name) {
        try {
            files.keep(directory.resolve(name));
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }

    /** Adds a listener that is called at the end of every group from now on. */
    public void listen(GroupListener listener) {
        if (!readOnly) {
            write(session -> {
                writer.listen(listener);
                return listener;
            });
        }
    }

    /** Queues work, after that of its group. It fails if the database is closed, or does not keep up. */
    public void submit(Work work) {
        writer.submit(work);
    }

    /**
     * Writes something and waits until it is on disk.
     *
     * @throws StoreException if it could not be written
     */
    public <T> T write(DatabaseRead<T> change) {
        return write(1, change);
    }

    /**
     * {@link #write(Question)} of about so many {@linkplain Work#rows rows}.
     *
     * @throws StoreException if it could not be written
     */
    @Override
    public <T> T write(int rows, DatabaseRead<T> change) {
        return write(rows, "", false, change);
    }

    /**
     * {@link #write(Question)} on behalf of a group.
     *
     * @throws StoreException if it could not be written
     */
    @Override
    public <T> T write(String group, DatabaseRead<T> change) {
        return write(1, group, false, change);
    }

    private <T> T write(int rows, String group, boolean barrier, DatabaseRead<T> change) {
        var done = new CompletableFuture<T>();
        submit(new Work() {
            private @Nullable T result;

            @Override
            public void write(DatabaseSession session) throws SQLException {
                result = change.ask(session);
            }

            @Override
            @SuppressWarnings("NullAway") // written before it is committed
            public void committed() {
                done.complete(result);
            }

            @Override
            public void failed(Exception cause) {
                done.completeExceptionally(cause);
            }

            @Override
            public int rows() {
                return rows;
            }

            @Override
            public String part() {
                return Refusals.part(change.getClass());
            }

            @Override
            public String group() {
                return group;
            }

            @Override
            public boolean isBarrier() {
                return barrier;
            }
        });
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw StoreException.of("could not write", failure);
        }
    }

    /**
     * Removes, after all that was submitted before, and leaves no trace of what was removed in the files: not in free space, and soon
     * not in the write-ahead log, as {@link #awaitErased} tells. In PostgreSQL that is a matter of VACUUM and of its archive.
     *
     * @throws StoreException if it is not removed
     */
    @Override
    public <T> T erase(DatabaseRead<T> change) {
        try {
            return write(1, "", true, change);
        } finally {
            // Also if the commit failed, for it may have been done.
            if (checkpointer != null) {
                checkpointer.erased();
            }
        }
    }

    /**
     * Waits until the write-ahead log holds no data that was erased before.
     *
     * @return false if it still does, because of a reader that began before; it is removed when that has ended
     */
    public boolean awaitErased(Duration patience) {
        return checkpointer == null || checkpointer.awaitErased(patience);
    }

    /**
     * Answers a question on the calling thread.
     *
     * @throws StoreException if it could not be read
     */
    @Override
    public <T> T read(DatabaseRead<T> question) {
        return (scans.isWorker() ? scanReaders : readers).read(question);
    }

    /**
     * Does work that reads more than a few rows on a platform thread of a bounded pool, in which groups take turns: on a virtual
     * thread its statements would hold a carrier. Its calls of {@link #read} use connections of the pool.
     *
     * @param group whose work it is
     * @param patience how long the caller waits
     * @throws A2AException with the reason unavailable if that is over, or too much work of the group waits
     */
    public <T> T scan(String group, Duration patience, Supplier<T> work) {
        try {
            return scans.call(group, patience, work);
        } catch (TimeoutException late) {
            throw A2AException.unavailable("The answer took longer than " + patience.toSeconds() + " s", LATER)
                    .causedBy(late);
        } catch (RejectedExecutionException busy) {
            throw A2AException.unavailable("Too many long reads of the group are under way", LATER)
                    .causedBy(busy);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The caller went away", LATER);
        }
    }

    private Readers readers(int connections, Duration limit) throws SQLException {
        var pool = new Readers(system, files, access, connections, limit);
        allReaders.add(pool);
        return pool;
    }

    /** Opens more connections for reading, so that long queries do not delay other readers. */
    public Readers readers(int connections) throws StoreException {
        try {
            return readers(connections, Duration.ZERO);
        } catch (SQLException problem) {
            throw new StoreException("cannot open a connection for reading: " + problem.getMessage(), problem);
        }
    }

    /**
     * Why nothing can be written at present, for operators; empty if the last attempt succeeded. Ends by itself: the writer
     * tries again as long as the database fails.
     */
    @Override
    public Optional<String> outage() {
        return writer.outage();
    }

    /** @param changed is run on the thread that writes, which it must not block, when an outage has begun or ended */
    public void onOutage(Runnable changed) {
        writer.onOutage(changed);
    }

    /** Whether this program may use the database, which may end. */
    public DatabaseAccess access() {
        return access;
    }

    /**
     * {@link #outage()}, found by a read, and by a write if there was none for a second. The write takes its turn among all others, so
     * a writer that hangs is an outage, too. Each waits for 2 s at most; callers share one write a second.
     */
    public Optional<String> testWriting() {
        return writer.testWriting().or(() -> readers.problem(Writer.TEST_PATIENCE));
    }

    /**
     * Parts of the hub whose writes the database refuses although it takes others, as far as known, with their reasons. Those of tasks are
     * in {@link #testWriting}.
     */
    public Map<String, String> refusedParts() {
        return writer.refusedParts();
    }

    /** Has the writer move the rest of the write-ahead log, so that the next transaction begins it anew. */
    void moveRest() {
        writer.moveRest();
    }

    /** Writes the submitted works, then closes. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false;
        }
        try {
            scans.close();
            writer.close();
            access.close();
            if (checkpointer != null) {
                checkpointer.close();
            }
            for (Readers pool : allReaders) {
                pool.close();
            }
            files.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
