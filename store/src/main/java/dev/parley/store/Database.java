package dev.parley.store;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;

/**
 * A database with one writer, which commits in groups, and a few readers: SQLite, or PostgreSQL.
 *
 * <p>The writer is a platform thread: it takes all work that waits, writes it in one transaction and tells each piece of
 * work when the disk has it. While the disk is busy more work gathers, so that the groups grow with the load.
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

    private static final Duration FOREVER = Duration.ofDays(1_000);

    /** Statements that a connection keeps prepared; what is made up of a caller's filters has no end of forms. */
    private static final int MAX_STATEMENTS = 500;

    private static final int SCHEMA = 4;

    /** Overwrites what is removed, where that writes no further page. */
    private static final String SECURE_DELETE = "PRAGMA secure_delete=FAST";

    private static final long WIPED_AT_ONCE = 64 << 20;

    /** Any number that nobody else is likely to lock: "parley" on a telephone. */
    private static final long POSTGRESQL_LOCK = 727539;

    /** After so many pieces of work (about as many thousand pages) the checkpointer is called. */
    private static final int CHECKPOINT_AFTER = 4_096;

    /** If the checkpointer does not keep up, the writer does it itself at this many pages: 256 MiB. */
    private static final int LONGEST_WAL_PAGES = 65_536;

    /** Versions before have a bug that can corrupt a database in WAL mode when a checkpoint meets a writer. */
    private static final int[] OLDEST_SQLITE = {3, 51, 3};

    /** Something to write. Called on the writer thread only. */
    public interface Work {
        /** Writes it. Called again, alone in a transaction of its own, if the first group failed. */
        void write(Session session) throws SQLException;

        /** It is on disk. Must not block. */
        void committed();

        /** It is not on disk. Must not block. */
        void failed(Exception cause);

        /** How much it writes, in rows of the size of a task or so: after much of it the write-ahead log is moved. */
        default int rows() {
            return 1;
        }
    }

    /** A question that is answered by reading. */
    @FunctionalInterface
    public interface Question<T> {
        T ask(Session session) throws SQLException;
    }

    /** A connection and its prepared statements, for one thread at a time. */
    public static final class Session {
        private final Connection connection;
        private final LinkedHashMap<String, PreparedStatement> statements = new LinkedHashMap<>(64, 0.75f, true);
        private volatile @Nullable PreparedStatement latest;
        private volatile boolean over;

        Session(Connection connection) {
            this.connection = connection;
        }

        /** Returns the statement for {@code sql}, prepared once, with its parameters bound to {@code values}. */
        public PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
            PreparedStatement statement = statements.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                statements.put(sql, statement);
                if (statements.size() > MAX_STATEMENTS) {
                    statements.pollFirstEntry().getValue().close();
                }
            }
            latest = statement;
            if (over) {
                throw new SQLException("the reader's patience is over");
            }
            for (int i = 0; i < values.length; i++) {
                switch (values[i]) {
                    case String text -> statement.setString(i + 1, text);
                    case Long number -> statement.setLong(i + 1, number);
                    case Integer number -> statement.setInt(i + 1, number);
                    case byte[] bytes -> statement.setBytes(i + 1, bytes);
                    case null, default -> statement.setObject(i + 1, values[i]);
                }
            }
            return statement;
        }

        /** Runs {@code sql} with its parameters bound to {@code values}, and returns how many rows it changed. */
        public int update(String sql, @Nullable Object... values) throws SQLException {
            return bind(sql, values).executeUpdate();
        }

        /** Runs SQL that is not worth keeping. */
        void once(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        /** Ends the statement that runs, which then fails, and so do all further ones. Any thread may call it. */
        void interrupt() {
            over = true;
            PreparedStatement running = latest;
            if (running != null) {
                try {
                    running.cancel();
                } catch (SQLException failure) {
                    LOG.log(Level.WARNING, "interrupting a statement", failure);
                }
            }
        }

        private void close() {
            try {
                connection.close();
            } catch (SQLException failure) {
                LOG.log(Level.WARNING, "closing the database", failure);
            }
        }
    }

    private static final Work STOP = new Work() {
        @Override
        public void write(Session session) {}

        @Override
        public void committed() {}

        @Override
        public void failed(Exception cause) {}
    };

    /** What a database is made of. */
    public enum Kind {
        SQLITE,
        POSTGRESQL
    }

    /** Makes connections. */
    private interface Connector {
        Connection connect(boolean readOnly) throws SQLException;
    }

    private final Kind kind;
    private final Connector connector;
    private final AutoCloseable lock;
    private final BlockingQueue<Work> queue = new LinkedBlockingQueue<>();
    private final Readers readers;
    private final List<Readers> allReaders = new CopyOnWriteArrayList<>();
    private final List<GroupListener> listeners = new CopyOnWriteArrayList<>();
    private final Semaphore checkpointDue = new Semaphore(0);
    private final Thread writer;
    private final @Nullable Thread checkpointer;
    private int workSinceCheckpoint;
    private volatile boolean open = true;

    /** Told of the end of each group, on the writer thread. */
    public interface GroupListener {
        /** The group is written and about to be committed. */
        void beforeCommit(Session session) throws SQLException;

        /** The group of so many pieces of work is on disk; they are yet to be told. */
        void committed(int works);

        /** The group is not on disk. */
        void rolledBack();
    }

    private Database(
            Kind kind, Connector connector, AutoCloseable lock, Session writing, @Nullable Session checkpointing)
            throws SQLException {
        this.kind = kind;
        this.connector = connector;
        this.lock = lock;
        this.readers = readers(READERS);
        this.checkpointer = checkpointing == null
                ? null
                : Thread.ofPlatform().daemon().name("store-checkpointer").start(() -> checkpointAll(checkpointing));
        this.writer = Thread.ofPlatform().daemon().name("store-writer").start(() -> writeAll(writing));
    }

    /**
     * Opens the SQLite database in {@code directory}, creating both if need be, for their owner alone.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(Path directory) {
        try {
            OwnersOnly.directory(directory);
            FileChannel lock = lock(directory);
            Path file = directory.resolve("parley.db");
            OwnersOnly.file(file); // SQLite gives the files beside it the same permissions
            String url = "jdbc:sqlite:" + file;
            Connector connector = readOnly -> connect(url, readOnly);
            var writing = new Session(connector.connect(false));
            requireVersion(writing.connection);
            migrate(writing.connection);
            return new Database(Kind.SQLITE, connector, lock, writing, new Session(connector.connect(false)));
        } catch (IOException | SQLException problem) {
            throw new StoreException("cannot open the database in " + directory + ": " + problem.getMessage(), problem);
        }
    }

    /**
     * Opens a PostgreSQL database, version 15 or newer. It has the tables of the modules that {@linkplain #migrate ask for
     * them}, in the first schema of its search path.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Database open(DataSource source) {
        try {
            Connector connector = readOnly -> {
                Connection connection = source.getConnection();
                connection.setReadOnly(readOnly);
                connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
                return connection;
            };
            Connection locking = source.getConnection();
            try (Statement statement = locking.createStatement();
                    ResultSet row =
                            statement.executeQuery("SELECT pg_try_advisory_lock(" + POSTGRESQL_LOCK + "), version()")) {
                row.next();
                if (!row.getBoolean(1)) {
                    locking.close();
                    throw new StoreException("the database is in use by another hub (expected: one hub per database)");
                }
            }
            Connection writing = connector.connect(false);
            writing.setAutoCommit(false);
            return new Database(Kind.POSTGRESQL, connector, locking, new Session(writing), null);
        } catch (SQLException problem) {
            throw new StoreException("cannot open the database: " + problem.getMessage(), problem);
        }
    }

    /** What it is made of, for SQL that has to differ. */
    public Kind kind() {
        return kind;
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
            session.update(
                    "CREATE TABLE IF NOT EXISTS module_version (module VARCHAR(100) PRIMARY KEY, version INTEGER)");
            return session;
        });
        int version = write(session -> {
            try (ResultSet row = session.bind("SELECT version FROM module_version WHERE module = ?", module)
                    .executeQuery()) {
                return row.next() ? row.getInt(1) : 0;
            }
        });
        if (version > scripts.size()) {
            throw new StoreException("the tables of " + module + " have version " + version + " (expected: at most "
                    + scripts.size() + "); they were written by a newer Parley");
        }
        for (int next = version; next < scripts.size(); next++) {
            int done = next + 1;
            String script = scripts.get(next);
            write(session -> {
                for (String sql : statements(script)) {
                    session.once(spelled(sql));
                }
                session.update("DELETE FROM module_version WHERE module = ?", module);
                return session.update("INSERT INTO module_version (module, version) VALUES (?, ?)", module, done);
            });
        }
    }

    private String spelled(String sql) {
        boolean sqlite = kind == Kind.SQLITE;
        return sql.replace(" KEY PRIMARY KEY", (sqlite ? " INTEGER" : " BIGINT") + " PRIMARY KEY")
                .replace(") ROWLESS", sqlite ? ") WITHOUT ROWID" : ")");
    }

    private static FileChannel lock(Path directory) throws IOException {
        FileChannel channel =
                FileChannel.open(directory.resolve("parley.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException sameProcess) {
            // falls through: it is in use, be it by this process
        }
        channel.close();
        throw new StoreException("directory " + directory
                + " is in use by another hub (expected: one hub per directory; stop the other or name another)");
    }

    private static Connection connect(String url, boolean readOnly) throws SQLException {
        var config = new SQLiteConfig();
        config.setJournalMode(JournalMode.WAL);
        config.setSynchronous(SynchronousMode.FULL);
        config.setBusyTimeout(10_000);
        config.setCacheSize(readOnly ? -16_000 : -64_000);
        config.enforceForeignKeys(false);
        config.setGetGeneratedKeys(false);
        config.setReadOnly(readOnly);
        Connection connection = config.createConnection(url);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_autocheckpoint=" + LONGEST_WAL_PAGES);
            statement.execute("PRAGMA journal_size_limit=67108864");
            statement.execute(SECURE_DELETE);
        }
        return connection;
    }

    private static void requireVersion(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT sqlite_version()")) {
            String version = row.getString(1);
            String[] parts = version.split("\\.", -1);
            for (int i = 0; i < OLDEST_SQLITE.length; i++) {
                int part = Integer.parseInt(parts[i]);
                if (part != OLDEST_SQLITE[i]) {
                    if (part > OLDEST_SQLITE[i]) {
                        return;
                    }
                    throw new StoreException("SQLite " + version + " (expected: 3.51.3 or newer)");
                }
            }
        }
    }

    private static void migrate(Connection connection) throws SQLException, IOException {
        try (Statement statement = connection.createStatement()) {
            int version;
            try (ResultSet row = statement.executeQuery("PRAGMA user_version")) {
                version = row.getInt(1);
            }
            if (version > SCHEMA) {
                throw new StoreException("the database has schema " + version + " (expected: at most " + SCHEMA
                        + "); it was written by a newer Parley");
            }
            for (int next = version + 1; next <= SCHEMA; next++) {
                connection.setAutoCommit(false);
                for (String sql : script("sqlite-" + next + ".sql")) {
                    statement.execute(sql);
                }
                statement.execute("PRAGMA user_version=" + next);
                connection.commit();
            }
            connection.setAutoCommit(false);
        }
    }

    private static List<String> script(String name) throws IOException {
        try (InputStream in = Database.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException(name + " is missing from the archive");
            }
            return statements(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    private static List<String> statements(String script) {
        return List.of(script.replaceAll("--[^\n]*", "").split(";", -1)).stream()
                .map(String::strip)
                .filter(sql -> !sql.isEmpty())
                .toList();
    }

    /** Has somebody told of the end of every group from now on. */
    public void listen(GroupListener listener) {
        write(session -> listeners.add(listener)); // on the writer thread, which alone looks at them
    }

    /** Queues work. It fails if the database is closed. */
    public void submit(Work work) {
        queue.add(work);
        if (!open && queue.remove(work)) {
            work.failed(new StoreException("the database is closed"));
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
    <T> T write(int rows, Question<T> change) {
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
        });
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw new StoreException("could not write", failure);
        }
    }

    /**
     * Removes, and leaves no trace of what was removed in the files, then or before: not in free space, and not in the
     * write-ahead log. In PostgreSQL that is a matter of VACUUM and of its archive.
     *
     * @throws StoreException also if it is removed, but somebody reads for so long that the log still has it
     */
    public <T> T erase(Question<T> change) {
        if (kind != Kind.SQLITE) {
            return write(change);
        }
        T answer = write(session -> {
            session.once("PRAGMA secure_delete=ON");
            try {
                T changed = change.ask(session);
                wipe(session);
                return changed;
            } finally {
                session.once(SECURE_DELETE);
            }
        });
        try (Connection connection = connector.connect(false);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA wal_checkpoint(TRUNCATE)")) {
            if (row.getInt(1) == 0) {
                return answer;
            }
        } catch (SQLException failure) {
            throw new StoreException("what was removed may still be in the write-ahead log", failure);
        }
        throw new StoreException("what was removed is still in the write-ahead log, because somebody reads for long");
    }

    /** Writes over free pages, for they hold what was removed at other times. */
    private static void wipe(Session session) throws SQLException {
        long free;
        try (ResultSet row = session.bind(
                        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
                .executeQuery()) {
            free = row.getLong(1);
        }
        session.once("CREATE TABLE wiped (zeros BLOB)");
        for (; free > 0; free -= WIPED_AT_ONCE) {
            session.update("INSERT INTO wiped (zeros) VALUES (zeroblob(?))", Math.min(free, WIPED_AT_ONCE));
        }
        session.once("DROP TABLE wiped");
    }

    /**
     * Answers a question on the calling thread.
     *
     * @throws StoreException if it could not be read
     */
    public <T> T read(Question<T> question) {
        return readers.read(question);
    }

    /** Opens more connections for reading, so that whoever reads for long does not keep the others waiting. */
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
                idle.add(new Session(connector.connect(true)));
            }
        }

        /** Answers a question on the calling thread; each statement sees what is there when it begins. */
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
                throw new StoreException("interrupted while waiting to read", stopped);
            }
            try {
                if (!open) {
                    throw new StoreException("the database is closed");
                }
                return question.ask(session);
            } catch (SQLException failure) {
                throw new StoreException("could not read", failure);
            } finally {
                idle.add(session);
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
                ScheduledFuture<?> end = Timers.after(patience, session::interrupt);
                session.connection.setAutoCommit(false);
                try {
                    T answer = question.ask(session);
                    if (session.over) {
                        throw new ReadTimeoutException(patience);
                    }
                    return answer;
                } catch (SQLException | StoreException failure) {
                    if (session.over) {
                        throw new ReadTimeoutException(patience);
                    }
                    throw failure;
                } finally {
                    end.cancel(false);
                    session.connection.rollback();
                    session.connection.setAutoCommit(true);
                    session.over = false;
                }
            });
        }

        private void close() throws InterruptedException {
            var closed = new ArrayList<Session>(connections);
            for (int i = 0; i < connections; i++) {
                Session session = idle.take();
                session.close();
                closed.add(session);
            }
            idle.addAll(closed); // for whoever waits for one, to find that the database is closed
        }
    }

    private void writeAll(Session session) {
        var group = new ArrayList<Work>(GROUP);
        boolean stop = false;
        while (!stop) {
            try {
                group.clear();
                group.add(queue.take());
                queue.drainTo(group, GROUP - 1);
            } catch (InterruptedException ignored) {
                continue; // nobody but close() ends this thread, and it does so by STOP
            }
            stop = group.remove(STOP);
            writeGroup(session, group);
        }
        queue.forEach(late -> late.failed(new StoreException("the database is closed")));
        session.close();
    }

    /** Moves pages from the write-ahead log to the database, beside the writer, who would keep all callers waiting. */
    private void checkpointAll(Session session) {
        try {
            while (true) {
                checkpointDue.acquire();
                checkpointDue.drainPermits();
                if (!open) {
                    return;
                }
                try {
                    session.bind("PRAGMA wal_checkpoint(PASSIVE)").execute();
                } catch (SQLException failure) {
                    LOG.log(Level.WARNING, "checkpoint; the next one moves its pages too", failure);
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            session.close();
        }
    }

    private void writeGroup(Session session, List<Work> group) {
        if (group.isEmpty()) {
            return;
        }
        Exception problem = transact(session, group);
        if (problem == null) {
            group.forEach(Database::tell);
            group.forEach(work -> workSinceCheckpoint += work.rows());
            if (workSinceCheckpoint >= CHECKPOINT_AFTER) {
                workSinceCheckpoint = 0;
                checkpointDue.release();
            }
        } else if (group.size() == 1) {
            LOG.log(Level.ERROR, "could not write", problem);
            group.getFirst().failed(problem);
        } else {
            // One bad piece must not take the others with it: each gets a transaction of its own.
            group.forEach(work -> writeGroup(session, List.of(work)));
        }
    }

    /** What is on disk stays there, so whoever cannot bear the news must not keep it from the others. */
    private static void tell(Work work) {
        try {
            work.committed();
        } catch (RuntimeException | Error fault) {
            LOG.log(Level.ERROR, "somebody failed on hearing of a commit", fault);
        }
    }

    private @Nullable Exception transact(Session session, List<Work> group) {
        try {
            for (Work work : group) {
                work.write(session);
            }
            for (GroupListener listener : listeners) {
                listener.beforeCommit(session);
            }
            session.connection.commit();
            listeners.forEach(listener -> listener.committed(group.size()));
            return null;
        } catch (Error error) {
            // Without its writer the hub would wait for ever; the work that was too much for it fails alone.
            return undone(session, new StoreException("could not write", error));
        } catch (SQLException | RuntimeException problem) {
            return undone(session, problem);
        }
    }

    private Exception undone(Session session, Exception problem) {
        listeners.forEach(GroupListener::rolledBack);
        try {
            session.connection.rollback();
        } catch (SQLException worse) {
            problem.addSuppressed(worse);
        }
        return problem;
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
        queue.add(STOP);
        try {
            writer.join();
            if (checkpointer != null) {
                checkpointDue.release();
                checkpointer.join();
            }
            for (Readers pool : allReaders) {
                pool.close();
            }
            lock.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (Exception failure) { // AutoCloseable says no more of it
            LOG.log(Level.WARNING, "closing the lock", failure);
        }
    }
}
