package dev.parley.store.database;

import dev.parley.protocol.support.FairPool;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.StoreException;
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

/** The SQLite database of a data directory: its lock, its connections and the tables of tasks. */
final class SqliteFile {
    /** Version of the tables of tasks. */
    static final int SCHEMA = 14;

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

    private SqliteFile() {}

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
                    Migrations.scripts("sqlite", SCHEMA),
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
