package dev.parley.store.database;

import dev.parley.store.connection.Connector;
import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Connector.Use;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.Wrapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

/** SQLite, in a file. */
public record SqliteSystem(Connector connector, DataFiles files) implements DatabaseSystem {
    /** Version of the tables of tasks that this program makes. */
    public static final int SCHEMA = SqliteFile.SCHEMA;

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
        return SqliteFile.SCHEMA;
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
            Path file = SqliteFile.in(directory).toAbsolutePath();
            files.make(file);
            String url = "jdbc:sqlite:" + file;
            Connector connector = use -> wrapper.wrap(SqliteFile.connect(url, use));
            try (Connection connection = connector.connect(Use.MAINTAIN)) {
                SqliteFile.requireVersion(connection);
                SqliteFile.migrate(connection);
            }
            if (isWatched) {
                files.watch(file, SqliteFile.connect(url, Use.MAINTAIN));
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
        var system = new SqliteSystem(connector, DataFiles.none());
        return new Opened(system, DataFiles.none(), new DatabaseSession(new Opening(system, Use.WRITE)));
    }
}
