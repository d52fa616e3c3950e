package dev.parley.store.database;

import dev.parley.protocol.support.FairPool;
import dev.parley.store.connection.Connector;
import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.files.DataFiles;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.Wrapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteOpenMode;

/** SQLite, in a file. */
public record SqliteSystem(Connector connector, DataFiles files) implements DatabaseSystem {
    /** Version of the tables of tasks. */
    public static final int SCHEMA = 14;

    /** Entry of {@code module_version}: no free page holds what was removed by a release that did not overwrite it. */
    static final String WIPED = "free pages";

    static final String NAME = DataFiles.DATABASE;

    /** Time that SQLite, and an attempt to write, waits for a lock of another process. */
    static final int BUSY_MS = 10_000;

    /** Cache of a connection that writes: kibibytes, as SQLite has it, which takes positive numbers for pages. */
    static final int WRITE_CACHE = -24_000;

    /** Overwrites removed data at once, so that an erasure has no work for earlier removals. */
    static final String SECURE_DELETE = "PRAGMA secure_delete=ON";

    /** Instructions of SQLite's machine between two checkpoints of a reading statement: less than a millisecond. */
    private static final int STEPS_AT_ONCE = 10_000;

    /** Versions before have a bug that can corrupt a database in WAL mode when a checkpoint meets a writer. */
    private static final int[] OLDEST_SQLITE = {3, 51, 3};

    /** Bytes that an attempt writes after a failure for lack of space: as many as a group of some hundred small works. */
    private static final int PROBE_BYTES = 1 << 20;

    @Override
    public Connection connect(Use use) throws SQLException {
        files.requireOpen();
        return connector.connect(use);
    }

    @Override
    public void close(Connection connection) throws SQLException {
        if (files.mayClose()) {
            connector.close(connection);
        }
    }

    @Override
    public DatabaseKind kind() {
        return DatabaseKind.SQLITE;
    }

    @Override
    public String spelled(String sql) {
        return sql.replace(" KEY PRIMARY KEY", " INTEGER PRIMARY KEY").replace(") ROWLESS", ") WITHOUT ROWID");
    }

    @Override
    public String jsonTexts() {
        return "json_each(?)";
    }

    @Override
    public long schema(DatabaseSession session) throws SQLException {
        return session.number("PRAGMA user_version");
    }

    @Override
    public int currentSchema() {
        return SCHEMA;
    }

    @Override
    public void lockTimeout(DatabaseSession session, int millis) throws SQLException {
        session.once("PRAGMA busy_timeout=" + millis);
    }

    /** Takes the lock: a first read would lose its snapshot to a checkpoint that empties the log. */
    @Override
    public void begin(DatabaseSession session) throws SQLException {
        session.update("DELETE FROM module_version WHERE 0");
    }

    /** Changes a number, because SQLite does not write a row that stays as it is. */
    @Override
    public void touch(DatabaseSession session) throws SQLException {
        session.update("INSERT INTO module_version (module, version) VALUES ('touched', 0)"
                + " ON CONFLICT (module) DO UPDATE SET version = 1 - version");
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        begin(session);
    }

    /** Files of a database that are open, and the session of its writer. */
    record Opened(SqliteSystem system, DataFiles files, DatabaseSession writing) {}

    /**
     * Opens the database of a directory, creating both if need be.
     *
     * @param isWatched whether nothing is written while its file is missing
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    static Opened open(Path directory, boolean isWatched, Wrapper wrapper) {
        DataFiles files = DataFiles.none();
        try {
            files = DataFiles.lock(directory);
            Path file = in(directory).toAbsolutePath();
            files.make(file);
            String url = "jdbc:sqlite:" + file;
            Connector connector = use -> wrapper.wrap(connect(url, use));
            try (Connection connection = connector.connect(Use.MAINTAIN)) {
                requireVersion(connection);
                migrate(connection);
            }
            if (isWatched) {
                files.watch(file, connect(url, Use.MAINTAIN));
            }
            var system = new SqliteSystem(connector, files);
            var writing = new DatabaseSession(new Opening(system, Use.WRITE));
            writing.connection();
            return new Opened(system, files, writing);
        } catch (IOException | SQLException problem) {
            files.close();
            throw NotOpenedException.directory(directory, problem);
        } catch (RuntimeException refused) {
            files.close();
            throw refused;
        }
    }

    /** Opens the database of a directory for reading, also while a hub has it open. */
    static Opened openForReading(Path directory) {
        Path file = in(directory);
        if (Files.notExists(file)) {
            throw new NotOpenedException(
                    NotOpenedException.Reason.DIRECTORY,
                    "directory " + directory + ": no database (expected: the data directory of a hub)");
        }
        Connector connector = use -> {
            if (use != Use.READ) {
                throw new SQLException("the database is open for reading only");
            }
            return connect("jdbc:sqlite:" + file, use);
        };
        var system = new SqliteSystem(connector, DataFiles.none());
        return new Opened(system, DataFiles.none(), new DatabaseSession(new Opening(system, Use.WRITE)));
    }

    // ---- The file

    static Path in(Path directory) {
        return directory.resolve(NAME);
    }

    static Connection connect(String url, Use use) throws SQLException {
        boolean readOnly = use == Use.READ;
        var config = new SQLiteConfig();
        if (!readOnly) {
            config.setJournalMode(
                    JournalMode.WAL); // a property of the file, which a copy of a backup gets at its first start
        }
        config.setSynchronous(SynchronousMode.FULL);
        config.setBusyTimeout(BUSY_MS);
        config.setCacheSize(readOnly ? -4_000 : WRITE_CACHE);
        config.enforceForeignKeys(false);
        config.setGetGeneratedKeys(false);
        config.setReadOnly(readOnly);
        config.resetOpenMode(SQLiteOpenMode.CREATE); // an empty file in the place of one that was removed
        Connection connection = config.createConnection(url);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA wal_autocheckpoint=0"); // the Checkpointer's, beside the writer
            statement.execute("PRAGMA journal_size_limit=67108864");
            statement.execute(SECURE_DELETE);
            connection.setAutoCommit(use != Use.WRITE);
            if (readOnly) {
                ProgressHandler.setHandler(connection, STEPS_AT_ONCE, new Checkpoint());
            }
            return connection;
        } catch (SQLException failure) {
            connection.close();
            throw failure;
        }
    }

    /** Lets a long statement give up its turn to other work of its pool, and ends it if that work has been given up. */
    private static final class Checkpoint extends ProgressHandler {
        @Override
        protected int progress() {
            return FairPool.checkpoint() ? 0 : 1;
        }
    }

    /** @throws StoreException if the library is older than what this program needs */
    static void requireVersion(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT sqlite_version()")) {
            String version = DatabaseSession.text(row, 1);
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

    /** Brings the tables of tasks up to date, each version in a transaction of its own. */
    static void migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            int version;
            try (ResultSet row = statement.executeQuery("PRAGMA user_version")) {
                version = row.getInt(1);
            }
            statement.execute(Migrations.MODULE_VERSIONS);
            if (version == 0) {
                statement.execute("INSERT INTO module_version (module, version) VALUES ('" + WIPED
                        + "', 1) ON CONFLICT DO NOTHING");
            }
            Migrations.run(
                    "the tables of tasks have version",
                    version,
                    version,
                    Release.scripts("sqlite", SCHEMA),
                    (statements, next) -> {
                        connection.setAutoCommit(false);
                        for (String sql : (Iterable<String>) statements::iterator) {
                            statement.execute(sql);
                        }
                        statement.execute("PRAGMA user_version=" + next);
                        connection.commit();
                        connection.setAutoCommit(true);
                    });
            // Writes the first page, so that the header tells this file from each copy that was made before.
            statement.execute("PRAGMA user_version=" + SCHEMA);
        }
    }

    /**
     * Fails if there is no space for a group of works. With a cache of few pages SQLite writes them to the log before it undoes
     * them; the log keeps their space for what is written next, so that attempts do not add up.
     */
    static void requireSpace(DatabaseSession session) throws SQLException {
        session.once("PRAGMA cache_size=10");
        session.once("INSERT INTO module_version (module, version) VALUES ('space', zeroblob(" + PROBE_BYTES + "))");
        session.connection().rollback();
        session.once("PRAGMA cache_size=" + WRITE_CACHE);
        session.connection().rollback();
    }
}
