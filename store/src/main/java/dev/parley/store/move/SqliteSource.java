package dev.parley.store.move;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sqlite.SQLiteConfig;

/**
 * The SQLite database of a data directory on which no hub runs. It is locked, and opened so that SQLite writes nothing: without its log
 * the file is immutable; with one, which a killed hub leaves, SQLite reads both, and its index of the log is removed if it was missing.
 */
final class SqliteSource implements AutoCloseable {
    /** Modules without tables in {@code module_version}: notes of the store about the file. */
    static final String NOTES = "'free pages', 'touched', 'space'";

    private final DataFiles lock;
    private final Path index;
    private final boolean hadIndex;
    private final Connection connection;

    private SqliteSource(DataFiles lock, Path file, boolean hasLog) throws SQLException {
        this.lock = lock;
        this.index = file.resolveSibling(file.getFileName() + "-shm");
        this.hadIndex = Files.exists(index);
        var config = new SQLiteConfig();
        config.setReadOnly(true);
        this.connection = config.createConnection("jdbc:sqlite:" + (hasLog ? file : file.toUri() + "?immutable=1"));
    }

    /**
     * Opens the database of {@code directory}.
     *
     * @throws NotOpenedException if it has none of SQLite
     * @throws dev.parley.store.spi.InUseException if a hub runs on it
     */
    static SqliteSource open(Path directory) {
        Path file = directory.resolve(DataFiles.DATABASE).toAbsolutePath();
        if (PostgresqlUrl.in(directory) != null || Files.notExists(file)) {
            throw new NotOpenedException(
                    Reason.DIRECTORY,
                    "directory " + directory + ": no database of SQLite (expected: the data directory of a hub, with "
                            + DataFiles.DATABASE + ")");
        }
        DataFiles lock = DataFiles.none();
        try {
            lock = DataFiles.lock(directory);
            Path log = file.resolveSibling(file.getFileName() + "-wal");
            return new SqliteSource(lock, file, Files.exists(log) && Files.size(log) > 0);
        } catch (IOException | SQLException failure) {
            lock.close();
            throw NotOpenedException.directory(directory, failure);
        }
    }

    Connection connection() {
        return connection;
    }

    /** Versions of the tables of modules, by their names. */
    Map<String, Integer> modules() throws SQLException {
        var versions = new LinkedHashMap<String, Integer>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT module, version FROM module_version WHERE module NOT IN (" + NOTES + ") ORDER BY 1")) {
            while (row.next()) {
                versions.put(DatabaseSession.text(row, 1), row.getInt(2));
            }
        }
        return versions;
    }

    /** Tables with rows of their own: neither views nor parts of virtual tables. */
    List<String> tables() throws SQLException {
        return texts("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')"
                + " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'module_version' ORDER BY name");
    }

    List<String> columns(String table) throws SQLException {
        return texts("SELECT name FROM pragma_table_info('" + table.replace("'", "''") + "') ORDER BY cid");
    }

    /** Identity of the data: the hash of the first entry of their audit, which never changes; empty if it has no entry. */
    String origin() throws SQLException {
        if (!tables().containsAll(List.of("audit", "audit_log"))) {
            return "";
        }
        String first = "SELECT * FROM (SELECT row_no, hash FROM %s ORDER BY row_no LIMIT 1)";
        return String.join(
                "",
                texts("SELECT hash FROM (" + first.formatted("audit") + " UNION ALL " + first.formatted("audit_log")
                        + ") ORDER BY row_no LIMIT 1"));
    }

    private List<String> texts(String query) throws SQLException {
        var texts = new ArrayList<String>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                texts.add(DatabaseSession.text(row, 1));
            }
        }
        return texts;
    }

    @Override
    public void close() throws SQLException, IOException {
        try {
            connection.close();
            if (!hadIndex) {
                Files.deleteIfExists(index);
            }
        } finally {
            lock.close();
        }
    }
}
