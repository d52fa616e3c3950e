package dev.parley.store;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;

/**
 * A SQLite database with one writer, which commits in groups, and a few readers.
 *
 * <p>The writer is a platform thread: it takes all work that waits, writes it in one transaction and tells each piece of
 * work when the disk has it. While the disk is busy more work gathers, so that the groups grow with the load.
 *
 * <p>Readers are connections that calling threads borrow. The native calls hold on to a virtual thread's carrier, which is
 * no loss for the microseconds that a lookup takes.
 */
final class Database implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final int GROUP = 1_024;
    private static final int READERS = 4;
    private static final int SCHEMA = 1;

    /** After so many pieces of work (about as many thousand pages) the checkpointer is called. */
    private static final int CHECKPOINT_AFTER = 4_096;

    /** If the checkpointer does not keep up, the writer does it itself at this many pages: 256 MiB. */
    private static final int LONGEST_WAL_PAGES = 65_536;

    /** Versions before have a bug that can corrupt a database in WAL mode when a checkpoint meets a writer. */
    private static final int[] OLDEST_SQLITE = {3, 51, 3};

    /** Something to write. Called on the writer thread only. */
    interface Work {
        /** Writes it. Called again, alone in a transaction of its own, if the first group failed. */
        void write(Session session) throws SQLException;

        /** It is on disk. Must not block. */
        void committed();

        /** It is not on disk. Must not block. */
        void failed(Exception cause);
    }

    /** A question that is answered by reading. */
    @FunctionalInterface
    interface Question<T> {
        T ask(Session session) throws SQLException;
    }

    /** A connection and its prepared statements, for one thread at a time. */
    static final class Session {
        private final Connection connection;
        private final Map<String, PreparedStatement> statements = new HashMap<>();

        Session(Connection connection) {
            this.connection = connection;
        }

        /** Returns the statement for {@code sql}, prepared once, with its parameters bound to {@code values}. */
        PreparedStatement bind(String sql, @Nullable Object... values) throws SQLException {
            PreparedStatement statement = statements.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                statements.put(sql, statement);
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

        int update(String sql, @Nullable Object... values) throws SQLException {
            return bind(sql, values).executeUpdate();
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

    private final FileChannel lock;
    private final BlockingQueue<Work> queue = new LinkedBlockingQueue<>();
    private final BlockingQueue<Session> readers = new ArrayBlockingQueue<>(READERS);
    private final List<GroupListener> listeners = new ArrayList<>();
    private final Semaphore checkpointDue = new Semaphore(0);
    private final Thread writer;
    private final Thread checkpointer;
    private int workSinceCheckpoint;
    private volatile boolean open = true;

    /** Told of the end of each group, on the writer thread. */
    interface GroupListener {
        /** The group is written and about to be committed. */
        void beforeCommit(Session session) throws SQLException;

        /** The group is on disk; its work is yet to be told. */
        void committed();

        /** The group is not on disk. */
        void rolledBack();
    }

    private Database(FileChannel lock, Session writing, Session checkpointing, List<Session> reading) {
        this.lock = lock;
        readers.addAll(reading);
        this.checkpointer =
                Thread.ofPlatform().daemon().name("store-checkpointer").unstarted(() -> checkpointAll(checkpointing));
        this.writer = Thread.ofPlatform().daemon().name("store-writer").unstarted(() -> writeAll(writing));
    }

    /** @throws StoreException if another process has it open, or it cannot be read or written */
    static Database open(Path directory) {
        try {
            Files.createDirectories(directory);
            FileChannel lock = lock(directory);
            String url = "jdbc:sqlite:" + directory.resolve("parley.db");
            var writing = new Session(connect(url, false));
            requireVersion(writing.connection);
            migrate(writing.connection);
            var reading = new ArrayList<Session>();
            for (int i = 0; i < READERS; i++) {
                reading.add(new Session(connect(url, true)));
            }
            var database = new Database(lock, writing, new Session(connect(url, false)), reading);
            database.writer.start();
            database.checkpointer.start();
            return database;
        } catch (IOException | SQLException problem) {
            throw new StoreException("cannot open the database in " + directory + ": " + problem.getMessage(), problem);
        }
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
        config.setCacheSize(-16_000);
        config.enforceForeignKeys(false);
        config.setGetGeneratedKeys(false);
        config.setReadOnly(readOnly);
        Connection connection = config.createConnection(url);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_autocheckpoint=" + LONGEST_WAL_PAGES);
            statement.execute("PRAGMA journal_size_limit=67108864");
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
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("--[^\n]*", "");
            return List.of(text.split(";", -1)).stream()
                    .map(String::strip)
                    .filter(sql -> !sql.isEmpty())
                    .toList();
        }
    }

    /** Has somebody told of the end of every group. To be called before any work is submitted. */
    void listen(GroupListener listener) {
        listeners.add(listener);
    }

    /** Queues work. It fails if the database is closed. */
    void submit(Work work) {
        queue.add(work);
        if (!open && queue.remove(work)) {
            work.failed(new StoreException("the database is closed"));
        }
    }

    /** Writes something and waits until it is on disk. */
    <T> T write(Question<T> change) {
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
        });
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw new StoreException("could not write", failure);
        }
    }

    /** Answers a question on the calling thread. */
    <T> T read(Question<T> question) {
        Session session;
        try {
            session = readers.take();
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
            readers.add(session);
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
            group.forEach(Work::committed);
            workSinceCheckpoint += group.size();
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

    private @Nullable Exception transact(Session session, List<Work> group) {
        try {
            for (Work work : group) {
                work.write(session);
            }
            for (GroupListener listener : listeners) {
                listener.beforeCommit(session);
            }
            session.connection.commit();
            listeners.forEach(GroupListener::committed);
            return null;
        } catch (SQLException | RuntimeException problem) {
            listeners.forEach(GroupListener::rolledBack);
            try {
                session.connection.rollback();
            } catch (SQLException worse) {
                problem.addSuppressed(worse);
            }
            return problem;
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
        queue.add(STOP);
        try {
            writer.join();
            checkpointDue.release();
            checkpointer.join();
            var closed = new ArrayList<Session>(READERS);
            for (int i = 0; i < READERS; i++) {
                Session session = readers.take();
                session.close();
                closed.add(session);
            }
            readers.addAll(closed); // for whoever waits for one, to find that the database is closed
            lock.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (IOException failure) {
            LOG.log(Level.WARNING, "closing the lock", failure);
        }
    }
}
