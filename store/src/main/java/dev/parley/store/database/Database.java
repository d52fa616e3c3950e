package dev.parley.store.database;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.Connector.Opening;
import dev.parley.store.database.Connector.Use;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.ReadTimeoutException;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database with one writer, which commits in groups, and a few readers: SQLite, or PostgreSQL.
 *
 * <p>The writer is a platform thread: it takes all work that waits and writes it in one transaction. While the disk is busy
 * more work gathers, so that the groups grow with the load. A virtual thread tells the works of a group how they ended, while
 * the writer writes the next group.
 *
 * <p>Readers are connections that calling threads borrow. The native calls hold on to a virtual thread's carrier, which is
 * no loss for the microseconds that a lookup takes.
 *
 * <p>Several modules may keep their tables in one database, and write to them in one transaction. One process at a time
 * may have it open. Safe for any thread.
 */
public final class Database implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final int GROUP = 1_024;
    private static final int READERS = 4;

    /** Works that wait for the writer: some seconds of all that it can write. While a disk stands still, more are refused. */
    private static final int MAX_QUEUED = 65_536;

    /** After so long the works that are written are committed, so that others' need not wait for all of them. */
    private static final Duration LONGEST_GROUP = Duration.ofMillis(25);

    private static final Duration FOREVER = Duration.ofDays(1_000);

    /** A write this recent shows that writing works; also the shortest time between two {@link WriteTest}s. */
    private static final Duration RECENT = Duration.ofSeconds(1);

    /** Time limit of a {@link WriteTest}. */
    private static final Duration TEST_PATIENCE = Duration.ofSeconds(2);

    /** A work that {@linkplain Session weighs} more, some 5 ms of the writer, has its group rest. */
    private static final long MAX_LIGHT = 256;

    /** Time that the writer works on a part of a removal before it serves others. */
    public static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Rows of {@link #writeInSlices} in one transaction, at most. */
    static final int ROWS_OF_SLICE = 200;

    private static final int PROBE_MS = 1_000;

    /** Attempts to write a group after broken connections, before each of its works is written by itself. */
    private static final int MAX_ATTEMPTS = 5;

    /** Bytes that an attempt writes after a failure for lack of space: as many as a group of some hundred small works. */
    private static final int PROBE_BYTES = 1 << 20;

    /** Primary result codes of SQLite: no space in the file, and no space (or another fault) in the index of the log. */
    private static final int SQLITE_FULL = 13;

    private static final int SQLITE_IOERR = 10;

    private static final String CANNOT_WRITE = "the database cannot be written: ";

    /** After about so many pages of the write-ahead log the checkpointer is called. */
    private static final int CHECKPOINT_AFTER = 4_096;

    /** Pages that each transaction writes, however little: the ends of tables and indexes, and inner pages of these. */
    private static final int PAGES_OF_GROUP = 8;

    private static final Work STOP = new Work() {
        @Override
        public void write(Session session) {}

        @Override
        public void committed() {}

        @Override
        public void failed(Exception cause) {}

        @Override
        public boolean isBarrier() {
            return true;
        }
    };

    private final DatabaseSystem system;
    private final AutoCloseable lock;
    /** Directory or URL without credentials, for operators. */
    private final String place;

    private final boolean readOnly;
    private final WriteQueue queue = new WriteQueue(MAX_QUEUED);
    private final Readers readers;
    private final List<Readers> allReaders = new CopyOnWriteArrayList<>();
    private final List<GroupListener> listeners = new CopyOnWriteArrayList<>();
    private final Teller teller = new Teller();
    private final Thread writer;
    private final @Nullable Checkpointer checkpointer;
    private int pagesSinceCheckpoint;
    /** Whether little is left in a long write-ahead log, for the writer to move. */
    private volatile boolean restDue;

    /** Of the transaction in the making, if it weighs more than {@link #MAX_LIGHT}; for the writer only. */
    private @Nullable Work heaviest;

    private long heaviestWeight;
    private volatile @Nullable Outage outage;
    /** Whether the outage may be for lack of space; for the writer only. */
    private boolean needsSpace;
    /** Time of the last commit of a group, by {@link System#nanoTime}. */
    private volatile long committedAt = System.nanoTime() - RECENT.toNanos();

    private volatile @Nullable WriteTest latestTest;

    private volatile boolean open = true;

    private Database(DatabaseSystem system, AutoCloseable lock, String place, Session writing, boolean readOnly)
            throws SQLException {
        this.system = system;
        this.place = place;
        this.lock = lock;
        this.readOnly = readOnly;
        this.readers = readers(READERS);
        this.checkpointer =
                system.kind() == DatabaseKind.SQLITE ? new Checkpointer(this, new Opening(system, Use.MAINTAIN)) : null;
        this.writer = Thread.ofPlatform().daemon().name("store-writer").start(() -> writeAll(writing));
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

    /**
     * {@link #open(Path)} with all connections wrapped.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(Path directory, Wrapper wrapper) {
        PostgresqlUrl named = PostgresqlUrl.in(directory);
        return named == null ? openSqlite(directory, wrapper) : open(named, wrapper);
    }

    private static Database openSqlite(Path directory, Wrapper wrapper) {
        FileChannel lock = null;
        try {
            OwnersOnly.directory(directory);
            lock = SqliteFile.lock(directory);
            Path file = SqliteFile.in(directory);
            OwnersOnly.file(file); // SQLite gives the files beside it the same permissions
            String url = "jdbc:sqlite:" + file;
            Connector connector = use -> wrapper.wrap(SqliteFile.connect(url, use));
            try (Connection connection = connector.connect(Use.MAINTAIN)) {
                SqliteFile.requireVersion(connection);
                SqliteFile.migrate(connection);
            }
            var system = new SqliteSystem(connector);
            var writing = new Session(new Opening(system, Use.WRITE));
            writing.connection();
            return new Database(system, lock, directory.toString(), writing, false);
        } catch (IOException | SQLException problem) {
            close(lock);
            throw NotOpenedException.directory(directory, problem);
        } catch (RuntimeException refused) {
            close(lock);
            throw refused;
        }
    }

    /**
     * Opens the database of {@code directory} for reading, also while a hub has it open. Whatever writes to it fails.
     *
     * @throws StoreException if there is none, or it cannot be read
     */
    public static Database openForReading(Path directory) {
        PostgresqlUrl named = PostgresqlUrl.in(directory);
        if (named != null) {
            return openForReading(named);
        }
        Path file = SqliteFile.in(directory);
        if (Files.notExists(file)) {
            throw new NotOpenedException(
                    NotOpenedException.Reason.DIRECTORY,
                    "directory " + directory + ": no database (expected: the data directory of a hub)");
        }
        Connector connector = use -> {
            if (use != Use.READ) {
                throw new SQLException("the database is open for reading only");
            }
            return SqliteFile.connect("jdbc:sqlite:" + file, use);
        };
        try {
            var system = new SqliteSystem(connector);
            return new Database(
                    system, () -> {}, directory.toString(), new Session(new Opening(system, Use.WRITE)), true);
        } catch (SQLException problem) {
            throw NotOpenedException.directory(directory, problem);
        }
    }

    private static Database openForReading(PostgresqlUrl named) {
        try {
            var system = new PostgresqlSystem(named, connection -> connection, Duration.ZERO);
            var refused = new Session(new Opening(
                    use -> {
                        throw new SQLException("the database is open for reading only");
                    },
                    Use.WRITE));
            return new Database(system, () -> {}, named.toString(), refused, true);
        } catch (SQLException problem) {
            throw PostgresqlSystem.cannotOpen(named, problem);
        }
    }

    /**
     * Has {@code directory} name a database of PostgreSQL, which is opened from then on where the directory is.
     *
     * @param url {@code postgresql://user:password@host:port/database}, with parameters of the JDBC driver
     * @throws NotOpenedException if the directory has a database of SQLite or cannot be written, or the URL is none
     */
    public static void name(Path directory, String url) {
        PostgresqlUrl.name(directory, url);
    }

    /**
     * Refuses a URL that cannot name the database of {@code directory}. Connects to nothing, and writes nothing.
     *
     * @throws NotOpenedException if the directory has a database of SQLite, or the URL is none
     */
    public static void check(Path directory, String url) {
        PostgresqlUrl.of(url, directory);
    }

    /** The version of the tables of tasks; {@link #currentSchema} after a start of this version. */
    public long schema() {
        return read(system::schema);
    }

    /** The version of the tables of tasks that this version writes. */
    public int currentSchema() {
        return system.currentSchema();
    }

    /**
     * Looks whether a hub has the database of {@code directory} open. Takes nothing from one that runs: its lock refuses the
     * attempt. Where none runs, a shared lock is held for the moment of the attempt.
     *
     * @throws IOException if the lock cannot be tried
     */
    public static boolean isInUse(Path directory) throws IOException {
        PostgresqlUrl named = PostgresqlUrl.in(directory);
        return named == null ? SqliteFile.isInUse(directory) : PostgresqlSystem.isInUse(named);
    }

    private static void close(@Nullable FileChannel lock) {
        try {
            if (lock != null) {
                lock.close();
            }
        } catch (IOException failure) {
            LOG.log(Level.WARNING, "the lock could not be closed", failure);
        }
    }

    /**
     * Opens a PostgreSQL database, version 15 or newer. Its tables are in the first schema of its search path.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(DataSource source) {
        return open(source, connection -> connection, PostgresqlSystem.PATIENCE);
    }

    /**
     * {@link #open(DataSource)} with all connections wrapped.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(DataSource source, Wrapper wrapper) {
        return open(source, wrapper, PostgresqlSystem.PATIENCE);
    }

    /** @param patience how long works wait for a database that does not answer before they are refused */
    public static Database open(DataSource source, Wrapper wrapper, Duration patience) {
        var system = new PostgresqlSystem(source, wrapper, patience);
        var writing = new Session(new Opening(system, Use.WRITE));
        try {
            system.start(writing);
            return new Database(system, () -> {}, system.toString(), writing, false);
        } catch (SQLException problem) {
            writing.discard();
            throw PostgresqlSystem.cannotOpen(source, problem);
        } catch (RuntimeException refused) {
            writing.discard();
            throw refused;
        }
    }

    /** Returns the database system, for SQL that differs. */
    public DatabaseKind kind() {
        return system.kind();
    }

    public DatabaseSystem system() {
        return system;
    }

    /**
     * Makes or changes the tables of a module. Each script is run once, in a transaction of its own, in their order.
     *
     * @param scripts SQL statements, separated by semicolons; how many there are is the version of the module's tables.
     *     {@code KEY PRIMARY KEY} stands for a number that SQLite needs no index to find, {@code ROWLESS} behind a table for
     *     one that is its own index, where there are such
     * @throws StoreException if the tables are newer than that, or cannot be made
     */
    public void migrate(String module, List<String> scripts) {
        write(session -> {
            session.once(Migrations.MODULE_VERSIONS);
            return session;
        });
        try {
            Migrations.run(
                    "the tables of " + module + " have version",
                    write(session -> version(session, module)),
                    scripts,
                    (statements, version) -> write(session -> {
                        for (String sql : (Iterable<String>) statements::iterator) {
                            session.once(system.spelled(sql));
                        }
                        return setVersion(session, module, version);
                    }));
        } catch (SQLException impossible) {
            throw new StoreException("the tables of " + module, impossible);
        }
    }

    static int version(Session session, String module) throws SQLException {
        return Math.toIntExact(session.number("SELECT version FROM module_version WHERE module = ?", module));
    }

    static int setVersion(Session session, String module, int version) throws SQLException {
        session.update("DELETE FROM module_version WHERE module = ?", module);
        return session.update("INSERT INTO module_version (module, version) VALUES (?, ?)", module, version);
    }

    public boolean isReadOnly() {
        return readOnly;
    }

    /** Adds a listener that is called at the end of every group from now on. */
    public void listen(GroupListener listener) {
        if (!readOnly) {
            write(session -> listeners.add(listener)); // on the writer thread, the only one that reads them
        }
    }

    /** Queues work, behind that of its group. It fails if the database is closed, or does not keep up. */
    public void submit(Work work) {
        if (!queue.add(work)) {
            // On a thread of its own, for the caller may hold what the news needs.
            Thread.startVirtualThread(() -> Teller.tell(
                    work, new OutageException(queue.size() + " writes wait for the disk already; try again later")));
            return;
        }
        if (!open && queue.remove(work)) {
            work.failed(new OutageException("the database is closed"));
        }
    }

    /**
     * Writes something and waits until it is on disk.
     *
     * @throws StoreException if it could not be written
     */
    public <T> T write(Question<T> change) {
        return write(1, change);
    }

    /**
     * {@link #write(Question)} of about so many {@linkplain Work#rows rows}.
     *
     * @throws StoreException if it could not be written
     */
    public <T> T write(int rows, Question<T> change) {
        return write(rows, "", false, change);
    }

    /**
     * {@link #write(Question)} on behalf of a group.
     *
     * @throws StoreException if it could not be written
     */
    public <T> T write(String group, Question<T> change) {
        return write(1, group, false, change);
    }

    private <T> T write(int rows, String group, boolean barrier, Question<T> change) {
        var done = new CompletableFuture<T>();
        submit(new Work() {
            private @Nullable T result;

            @Override
            public void write(Session session) throws SQLException {
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
     * Removes, after all that was submitted before, and leaves no trace of what was removed in the files: not in free
     * space, and soon not in the write-ahead log,
     * as {@link #awaitErased} tells. In PostgreSQL that is a matter of VACUUM and of its archive.
     *
     * @throws StoreException if it is not removed
     */
    public <T> T erase(Question<T> change) {
        try {
            return write(1, "", true, change);
        } finally {
            // Also if the commit failed, for it may have been done.
            if (checkpointer != null) {
                checkpointer.erased();
            }
        }
    }

    /** A change of one row, or of a few. */
    @FunctionalInterface
    public interface RowChange<T> {
        /** Makes it, and returns how many rows have changed. On the writer thread. */
        int make(Session session, T row) throws SQLException;
    }

    private record Part(int rows, int changed) {}

    /**
     * Changes or removes many rows in transactions of 5 ms of the writer each, so that other writes come between. A failure leaves the
     * rows of the transactions before it changed.
     *
     * @param rows found before, beside the writer: they may have changed since
     * @param erased whether the change is an {@linkplain #erase erasure}
     * @return how many rows have changed
     * @throws StoreException if a transaction could not be written
     */
    public <T> int writeInSlices(List<T> rows, boolean erased, RowChange<T> change) {
        int changed = 0;
        for (int from = 0; from < rows.size(); ) {
            List<T> left = rows.subList(from, Math.min(rows.size(), from + ROWS_OF_SLICE));
            Part part = erased
                    ? erase(session -> writePart(session, left, change))
                    : write(left.size(), session -> writePart(session, left, change));
            from += part.rows;
            changed += part.changed;
        }
        return changed;
    }

    /** Changes the first of these rows, as many as the time of a slice allows, and at least one. */
    private static <T> Part writePart(Session session, List<T> left, RowChange<T> change) throws SQLException {
        long end = System.nanoTime() + SLICE_NANOS;
        int rows = 0;
        int changed = 0;
        do {
            changed += change.make(session, left.get(rows++));
        } while (rows < left.size() && System.nanoTime() - end < 0);
        return new Part(rows, changed);
    }

    /**
     * Waits until the write-ahead log holds nothing of what was erased before.
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
    public <T> T read(Question<T> question) {
        return readers.read(question);
    }

    /** Opens more connections for reading, so that long queries do not delay other readers. */
    public Readers readers(int connections) throws StoreException {
        try {
            var pool = new Readers(connections);
            allReaders.add(pool);
            return pool;
        } catch (SQLException problem) {
            throw new StoreException("cannot open a connection for reading: " + problem.getMessage(), problem);
        }
    }

    /** Connections for reading, which calling threads borrow. They end with the database. */
    public final class Readers {
        private final BlockingQueue<Session> idle;
        private final int connections;

        private Readers(int connections) throws SQLException {
            this.connections = connections;
            this.idle = new ArrayBlockingQueue<>(connections);
            for (int i = 0; i < connections; i++) {
                var session = new Session(new Opening(system, Use.READ));
                session.connection();
                idle.add(session);
            }
        }

        /** Runs a query on the calling thread; each statement sees the rows at its beginning. */
        public <T> T read(Question<T> question) {
            return read(FOREVER, question);
        }

        private <T> T read(Duration patience, Question<T> question) {
            Session session;
            try {
                session = idle.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
                if (session == null) {
                    throw new ReadTimeoutException(patience);
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new OutageException("interrupted while waiting to read", stopped);
            }
            try {
                if (!open) {
                    throw new OutageException("the database is closed");
                }
                return ask(session, question);
            } catch (SQLException failure) {
                if (!isOfData(failure)) {
                    session.discard();
                }
                throw StoreException.of("could not read", failure);
            } catch (RuntimeException failure) {
                if (isOfDatabase(failure)) {
                    session.discard();
                }
                throw failure;
            } finally {
                session.readingSince = null;
                idle.add(session);
            }
        }

        /** Asks again, by a new connection, if the first statement found that the connection had been broken before. */
        private <T> T ask(Session session, Question<T> question) throws SQLException {
            long weight = session.weight;
            boolean kept = session.isConnected();
            session.readingSince = System.nanoTime();
            try {
                return question.ask(session);
            } catch (SQLException failure) {
                if (!kept || session.weight - weight > 1 || !system.isBroken(failure)) {
                    throw failure;
                }
                session.discard();
                return question.ask(session);
            }
        }

        /**
         * Answers a question on the calling thread; all of its statements see the same moment.
         *
         * @param patience after this time the statement that runs is ended, and so are all further ones
         * @throws ReadTimeoutException if the patience was over before the answer was there
         */
        public <T> T snapshot(Duration patience, Question<T> question) {
            return read(patience, session -> {
                Connection connection = session.connection();
                connection.setAutoCommit(false);
                var timeout = new Session.Timeout(session);
                session.timeout = timeout;
                ScheduledFuture<?> timer = Timers.after(patience, timeout::expire);
                try {
                    T answer = question.ask(session);
                    if (timeout.end()) {
                        throw new ReadTimeoutException(patience);
                    }
                    connection.rollback();
                    connection.setAutoCommit(true);
                    return answer;
                } catch (SQLException | RuntimeException failure) {
                    boolean over = timeout.end();
                    if (over || !isRestored(connection)) {
                        session.discard();
                    }
                    if (over) {
                        throw new ReadTimeoutException(patience);
                    }
                    throw failure;
                } finally {
                    timer.cancel(false);
                    session.timeout = null;
                }
            });
        }

        private static boolean isRestored(Connection connection) {
            try {
                connection.rollback();
                connection.setAutoCommit(true);
                return true;
            } catch (SQLException failure) {
                return false;
            }
        }

        private void close() throws InterruptedException {
            var closed = new ArrayList<Session>(connections);
            for (int i = 0; i < connections; i++) {
                Session session = idle.take();
                session.discard();
                closed.add(session);
            }
            idle.addAll(closed); // wakes threads that wait for a session, which then find the database closed
        }
    }

    /**
     * Why nothing can be written at present, for operators; empty if the last attempt succeeded. Ends by itself: the writer
     * tries again as long as the database fails.
     */
    public Optional<String> outage() {
        Outage now = outage;
        if (now == null) {
            return Optional.empty();
        }
        String full = hasCode(now.cause(), SQLITE_FULL) ? "the disk of " + place + " is full: " : "";
        return Optional.of(CANNOT_WRITE + full + message(now.cause()));
    }

    /**
     * {@link #outage()}, found by a write if there was none for a second. The write takes its turn among all others, so a
     * writer that hangs is an outage, too. Waits for 2 s at most; callers share one write a second.
     */
    public Optional<String> testWriting() {
        Optional<String> known = outage();
        if (known.isPresent() || System.nanoTime() - committedAt < RECENT.toNanos()) {
            return known;
        }
        try {
            return writeTest().outcome();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted while the database was tested");
        }
    }

    private synchronized WriteTest writeTest() {
        WriteTest latest = latestTest;
        if (latest == null || latest.isOutdated()) {
            latest = new WriteTest();
            latestTest = latest;
            submit(latest);
        }
        return latest;
    }

    /** A write that shows whether writing works. */
    private final class WriteTest implements Work {
        private final long begun = System.nanoTime();
        private final CompletableFuture<Optional<String>> outcome = new CompletableFuture<>();

        boolean isOutdated() {
            return outcome.isDone() && System.nanoTime() - begun >= RECENT.toNanos();
        }

        /** Why nothing can be written; empty if this was. */
        Optional<String> outcome() throws InterruptedException {
            try {
                return outcome.get(begun + TEST_PATIENCE.toNanos() - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException late) {
                return Optional.of("the database did not answer within " + TEST_PATIENCE.toSeconds() + " s");
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        @Override
        public void write(Session session) throws SQLException {
            system.touch(session);
        }

        @Override
        public void committed() {
            outcome.complete(Optional.empty());
        }

        /** Ends the wait before the writer gives up on works that wait for the database. */
        void outageBegan() {
            outcome.complete(outage());
        }

        @Override
        public void failed(Exception cause) {
            outcome.complete(outage().or(() -> Optional.of(CANNOT_WRITE + message(cause))));
        }
    }

    private static String message(Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }

    private void writeAll(Session session) {
        var group = new ArrayDeque<Work>(GROUP);
        boolean stop = false;
        while (!stop) {
            try {
                take(group);
                stop = group.remove(STOP);
                Outage now = outage;
                if (now != null && now.nanosToRetry() <= 0) {
                    tryToWrite(session, now, now.cause());
                }
                writeGroup(session, group);
            } catch (RuntimeException | Error fault) {
                // Without its writer the hub would wait for ever.
                LOG.log(Level.ERROR, "the writer failed; it continues with the next group", fault);
                session.discard();
                refuse(group, new StoreException("could not write", fault));
            }
        }
        do {
            refuse(group, new OutageException("the database is closed"));
            takeWithin(0, group);
        } while (!group.isEmpty());
        teller.end();
        session.discard();
    }

    /** Waits for work or, while the database fails, until the next attempt is due. */
    private void take(ArrayDeque<Work> group) {
        Outage now = outage;
        takeWithin(now == null ? Long.MAX_VALUE : now.nanosToRetry(), group);
    }

    private void takeWithin(long nanos, ArrayDeque<Work> group) {
        try {
            queue.take(group, GROUP, nanos);
        } catch (InterruptedException ignored) {
            // only close() ends this thread, by STOP
        }
    }

    private void refuse(Queue<Work> works, Exception cause) {
        teller.tell(works, cause);
        works.clear();
    }

    /** Result of a transaction. */
    private enum Ending {
        COMMITTED,
        /** Nothing of it is on disk. */
        ROLLED_BACK,
        /** The commit failed: it is on disk as a whole, or not at all. */
        UNCERTAIN
    }

    /** @param problem null if it was committed */
    private record Result(Ending ending, @Nullable Exception problem) {}

    /** Writes works and tells each of them, until {@code group} is empty. */
    private void writeGroup(Session session, Queue<Work> group) {
        writeGroup(session, group, 1);
    }

    private void writeGroup(Session session, Queue<Work> group, int attempt) {
        Outage known = outage;
        if (known != null) {
            refuse(group, new OutageException("the database cannot be written", known.cause()));
            return;
        }
        if (group.isEmpty()) {
            return;
        }
        Result result = transact(session, group);
        Exception problem = result.problem;
        if (problem == null) {
            tellCommitted(group);
            if (restDue) {
                restDue = false;
                moveRest(session);
            }
            return;
        }
        if (isOfDatabase(problem) && !isOfData(problem)) {
            tryToWrite(session, null, problem);
            awaitDatabase(session);
            if (outage == null && result.ending == Ending.UNCERTAIN && system.hasLanded()) {
                tellCommitted(group);
                return;
            }
            if (outage == null && attempt < MAX_ATTEMPTS && repeatsGroups() && StoreException.isTemporary(problem)) {
                writeGroup(session, group, attempt + 1);
                return;
            }
        }
        if (outage != null || group.size() == 1 || result.ending == Ending.UNCERTAIN) {
            LOG.log(Level.ERROR, "could not write", problem);
            refuse(
                    group,
                    outage == null
                            ? StoreException.of("could not write", problem)
                            : new OutageException("could not write", problem));
        } else if (repeatsGroups()) {
            // A commit waits for a network and a disk, so few of them have to find the works that fail.
            var firstHalf = new ArrayDeque<Work>();
            for (int left = group.size() / 2; left > 0; left--) {
                firstHalf.add(group.remove());
            }
            writeGroup(session, firstHalf);
            writeGroup(session, group);
        } else {
            // One bad piece must not take the others with it: each gets a transaction of its own.
            for (Work work = group.poll(); work != null; work = group.poll()) {
                writeGroup(session, new ArrayDeque<>(List.of(work)));
            }
        }
    }

    /** Whether works can wait for the database, since the outcome of each commit is known in the end. */
    private boolean repeatsGroups() {
        return system.patience().isPositive();
    }

    /** Tries to write until the database takes it, or the works have waited for long enough. */
    private void awaitDatabase(Session session) {
        long end = System.nanoTime() + system.patience().toNanos();
        for (Outage now = outage; now != null && open && System.nanoTime() - end < 0; now = outage) {
            LockSupport.parkNanos(Math.max(1, Math.min(now.nanosToRetry(), end - System.nanoTime())));
            if (now.nanosToRetry() <= 0) {
                tryToWrite(session, now, now.cause());
            }
        }
    }

    private void tellCommitted(Queue<Work> group) {
        teller.tell(group, null);
        pagesSinceCheckpoint += PAGES_OF_GROUP;
        for (Work work = group.poll(); work != null; work = group.poll()) {
            pagesSinceCheckpoint += work.rows();
        }
        if (pagesSinceCheckpoint >= CHECKPOINT_AFTER) {
            pagesSinceCheckpoint = 0;
            moveSoon();
        }
    }

    private Result transact(Session session, Collection<Work> group) {
        Ending ending = Ending.ROLLED_BACK;
        long begun = System.nanoTime();
        heaviest = null;
        heaviestWeight = MAX_LIGHT;
        try {
            if (!session.isConnected()) {
                reopen(session);
            }
            system.begin(session);
            write(session, group);
            for (GroupListener listener : listeners) {
                listener.beforeCommit(session);
            }
            session.flush();
            ending = Ending.UNCERTAIN;
            session.connection().commit();
            system.committed();
            committedAt = System.nanoTime();
        } catch (Error error) {
            // Only the work that exceeded the limit fails.
            return undone(session, ending, new StoreException("could not write", error));
        } catch (SQLException | RuntimeException problem) {
            return undone(session, ending, problem);
        }
        Work heavy = heaviest;
        if (heavy != null) {
            queue.rest(heavy.group(), System.nanoTime() - begun);
        }
        hear(listener -> listener.committed(group.size()));
        return new Result(Ending.COMMITTED, null);
    }

    /** Writes works. Works that would delay others for too long go back into the queue. */
    private void write(Session session, Collection<Work> group) throws SQLException {
        long end = System.nanoTime() + LONGEST_GROUP.toNanos();
        boolean enough = false;
        var unwritten = new ArrayList<Work>();
        for (Iterator<Work> works = group.iterator(); works.hasNext(); ) {
            Work work = works.next();
            if (enough) {
                works.remove();
                unwritten.add(work);
            } else {
                session.weight = 0;
                work.write(session);
                if (session.weight > heaviestWeight) {
                    heaviest = work;
                    heaviestWeight = session.weight;
                }
                enough = System.nanoTime() - end > 0;
            }
        }
        if (!unwritten.isEmpty()) {
            queue.giveBack(unwritten);
        }
    }

    private Result undone(Session session, Ending ending, Exception problem) {
        hear(GroupListener::rolledBack);
        session.deferred = null;
        if (ending == Ending.UNCERTAIN) {
            system.uncertain();
        }
        if (ending == Ending.UNCERTAIN || system.kind() == DatabaseKind.SQLITE && isOfDatabase(problem)) {
            // SQLite has undone the transaction by itself, or not; its driver cannot know, and goes wrong from there
            // on.
            session.discard();
        } else {
            try {
                session.connection().rollback();
            } catch (SQLException | RuntimeException worse) {
                session.discard();
                problem.addSuppressed(worse);
            }
        }
        return new Result(ending, problem);
    }

    private void hear(Consumer<GroupListener> news) {
        for (GroupListener listener : listeners) {
            try {
                news.accept(listener);
            } catch (RuntimeException | Error fault) {
                LOG.log(Level.ERROR, "a listener of groups failed", fault);
            }
        }
    }

    /** Whether PostgreSQL refused a value or a row, and not the transaction. */
    private static boolean isOfData(Throwable problem) {
        return problem instanceof SQLException failure
                && failure.getSQLState() != null
                && (failure.getSQLState().startsWith("22")
                        || failure.getSQLState().startsWith("23"));
    }

    private static boolean isOfDatabase(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasCode(Throwable problem, int code) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException failure && failure.getErrorCode() == code) {
                return true;
            }
        }
        return false;
    }

    /** Whether this may be for lack of space: an attempt that writes a page would succeed where works do not. */
    private boolean mayLackSpace(Throwable problem) {
        return system.kind() == DatabaseKind.SQLITE
                && (hasCode(problem, SQLITE_FULL) || hasCode(problem, SQLITE_IOERR));
    }

    private void reopen(Session session) throws SQLException {
        session.connection();
        try {
            system.reopened(session);
            for (GroupListener listener : listeners) {
                listener.reopened(session);
            }
        } catch (SQLException | RuntimeException failure) {
            session.discard(); // otherwise listeners without the callback keep stale state
            throw failure;
        }
    }

    /**
     * Asks the database itself whether it can write, by writing, and says in {@link #outage} if it cannot.
     *
     * @param problem the latest failure
     */
    private void tryToWrite(Session session, @Nullable Outage before, Exception problem) {
        needsSpace |= mayLackSpace(problem);
        if (needsSpace) {
            freeSpaceSoon(); // it may be the write-ahead log that fills the disk
        }
        try {
            boolean remembers = session.isConnected();
            system.lockTimeout(session, PROBE_MS);
            if (!remembers) {
                reopen(session);
            }
            system.begin(session);
            system.touch(session);
            session.commit();
            system.committed();
            if (needsSpace) {
                requireSpace(session);
            }
            system.lockTimeout(session, SqliteFile.BUSY_MS);
            if (before != null) {
                LOG.log(Level.INFO, "the database can be written again");
            }
            committedAt = System.nanoTime();
            outage = null;
            needsSpace = false;
        } catch (SQLException | RuntimeException failure) {
            session.discard();
            if (!needsSpace) {
                moveSoon();
            }
            outage = Outage.after(before == null ? 1 : before.failures() + 1, failure);
            if (before == null) {
                LOG.log(Level.ERROR, "the database cannot be written; until it can, all changes are refused", failure);
            }
            WriteTest waiting = latestTest;
            if (waiting != null) {
                waiting.outageBegan();
            }
        }
    }

    /**
     * Fails if there is no space for a group of works. With a cache of few pages SQLite writes them to the log before it undoes
     * them; the log keeps their space for what is written next, so that attempts do not add up.
     */
    private static void requireSpace(Session session) throws SQLException {
        session.once("PRAGMA cache_size=10");
        session.once("INSERT INTO module_version (module, version) VALUES ('space', zeroblob(" + PROBE_BYTES + "))");
        session.connection().rollback();
        session.once("PRAGMA cache_size=" + SqliteFile.WRITE_CACHE);
        session.connection().rollback();
    }

    /** Has the writer move the rest of the write-ahead log, so that the next transaction begins it anew. */
    void moveRest() {
        restDue = true;
    }

    private static void moveRest(Session session) {
        try {
            Connection connection = session.connection();
            connection.setAutoCommit(true);
            session.once("PRAGMA wal_checkpoint(PASSIVE)");
            connection.setAutoCommit(false);
        } catch (SQLException | RuntimeException failure) {
            session.discard();
            LOG.log(Level.WARNING, "a checkpoint failed; the next one moves its pages too", failure);
        }
    }

    private void moveSoon() {
        if (checkpointer != null) {
            checkpointer.wake();
        }
    }

    private void freeSpaceSoon() {
        if (checkpointer != null) {
            checkpointer.freeSpace();
        }
    }

    /** Writes what was submitted, then closes. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false;
        }
        queue.addUnbounded(STOP);
        try {
            writer.join();
            teller.join();
            if (checkpointer != null) {
                checkpointer.close();
            }
            for (Readers pool : allReaders) {
                pool.close();
            }
            lock.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (Exception failure) { // AutoCloseable says no more of it
            LOG.log(Level.WARNING, "the lock could not be closed", failure);
        }
    }
}
