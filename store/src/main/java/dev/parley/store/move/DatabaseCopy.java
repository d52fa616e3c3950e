package dev.parley.store.move;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import dev.parley.store.spi.StoreException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteConfig;

/**
 * Copies of the SQLite database of a data directory, also while a hub writes it: a copy has all that was committed before it began, and
 * nothing of a transaction that was not. The hub's writer does not wait for it; its log grows meanwhile, because a reader needs its pages.
 */
public final class DatabaseCopy {
    /** Name of the database in a data directory. */
    public static final String FILE = DataFiles.DATABASE;

    /** Receives the bytes that were written, now and then. */
    @FunctionalInterface
    public interface Progress {
        void written(long bytes, long expected);
    }

    /**
     * Versions of the tables in a copy.
     *
     * @param schema version of the tables of tasks
     * @param modules versions of the tables of modules, by their names
     */
    public record Levels(long schema, Map<String, Integer> modules) {
        public Levels {
            modules = Map.copyOf(modules);
        }
    }

    /** Kibibytes of pages in memory, as SQLite has it, which takes positive numbers for pages. */
    private static final int CACHE = -4_000;

    private static final int BUSY_MS = 10_000;

    /** Instructions of SQLite's machine between two looks at the progress: some 10 ms. */
    private static final int STEPS = 10_000;

    private DatabaseCopy() {}

    /**
     * Holds the lock of a data directory, which is made if it is missing: no hub starts in it until the result is closed.
     *
     * @throws dev.parley.store.spi.InUseException if a hub has the lock
     */
    public static Closeable hold(Path directory) throws IOException {
        return DataFiles.lock(directory)::close;
    }

    /**
     * Writes a copy of the database of {@code directory} to a new file, for its owner only. It is not flushed to the disk.
     *
     * @throws NotOpenedException if the directory has no database of SQLite, or its files are not those that its hub has open
     * @throws StoreException if it cannot be read, or the file not be written, as on a full disk; a part of it may be left
     */
    public static void write(Path directory, Path file, Progress progress) {
        Path source = directory.resolve(DataFiles.DATABASE).toAbsolutePath();
        try {
            require(directory, source);
            OwnersOnly.file(file);
            try (Connection connection = connect(source);
                    PreparedStatement copy = connection.prepareStatement("VACUUM INTO ?")) {
                long expected = number(connection, "PRAGMA page_count") * number(connection, "PRAGMA page_size");
                ProgressHandler.setHandler(connection, STEPS, new ProgressHandler() {
                    @Override
                    protected int progress() {
                        progress.written(file.toFile().length(), expected);
                        return 0;
                    }
                });
                copy.setString(1, file.toString());
                copy.execute();
            }
        } catch (IOException | SQLException failure) {
            throw new StoreException(
                    "the database \"" + source + "\" was not copied to \"" + file + "\": " + failure.getMessage()
                            + " (expected: a readable database, and space for a copy of it)",
                    failure);
        }
    }

    private static void require(Path directory, Path source) throws IOException {
        if (PostgresqlUrl.in(directory) != null || Files.notExists(source)) {
            throw new NotOpenedException(
                    Reason.DIRECTORY,
                    "directory \"" + directory
                            + "\": no database of SQLite (expected: the data directory of a hub, with "
                            + DataFiles.DATABASE + ")");
        }
        List<String> problems =
                DataFiles.problems(directory); // SQLite would make a log beside a file that is not the hub's
        if (!problems.isEmpty()) {
            throw new NotOpenedException(
                    Reason.DIRECTORY,
                    "directory \"" + directory + "\": " + String.join(", ", problems)
                            + " (expected: the files that its hub has open)");
        }
    }

    private static Connection connect(Path file) throws SQLException {
        var config = new SQLiteConfig();
        config.setReadOnly(true);
        config.setBusyTimeout(BUSY_MS);
        config.setCacheSize(CACHE);
        return config.createConnection("jdbc:sqlite:" + file);
    }

    /**
     * Reads each page of a copy that nothing writes.
     *
     * @return its versions
     * @throws StoreException with the damage, if it is not whole
     */
    public static Levels check(Path file) {
        try (Connection connection = connect(file);
                Statement statement = connection.createStatement()) {
            var damage = new ArrayList<String>();
            try (ResultSet row = statement.executeQuery("PRAGMA integrity_check(3)")) {
                while (row.next()) {
                    damage.add(DatabaseSession.text(row, 1));
                }
            }
            if (!damage.equals(List.of("ok"))) {
                throw new StoreException("database \"" + file + "\": damaged: " + String.join("; ", damage)
                        + " (expected: a database that passes PRAGMA integrity_check)");
            }
            var modules = new TreeMap<String, Integer>();
            try (ResultSet row = statement.executeQuery(
                    "SELECT module, version FROM module_version WHERE module NOT IN (" + SqliteSource.NOTES + ")")) {
                while (row.next()) {
                    modules.put(DatabaseSession.text(row, 1), row.getInt(2));
                }
            }
            return new Levels(number(connection, "PRAGMA user_version"), modules);
        } catch (SQLException failure) {
            throw new StoreException(
                    "database \"" + file + "\": cannot be read: " + failure.getMessage()
                            + " (expected: a database of a hub)",
                    failure);
        }
    }

    private static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
