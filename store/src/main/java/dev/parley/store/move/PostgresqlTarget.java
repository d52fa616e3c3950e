package dev.parley.store.move;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.connection.UnfinishedMove;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The PostgreSQL database into which a move writes. It has the mark of the move, and so no hub uses it. The move itself has a stream in
 * it, as if it were a hub that has run all tasks and ended: the first hub takes over its tasks, and continues its chain of the audit.
 */
final class PostgresqlTarget implements AutoCloseable {
    /** Keeps out a second move, not hubs. The second half stands for the schema. */
    private static final String LOCK = "SELECT pg_try_advisory_lock(727540, hashtext(current_schema()))";

    private static final String HAS_TABLES = "SELECT to_regclass('module_version') IS NOT NULL";

    private final DataSource source;
    private final Connection connection;
    private long stream;

    private PostgresqlTarget(DataSource source) throws SQLException {
        this.source = source;
        this.connection = (source instanceof PostgresqlUrl url ? url.direct() : source).getConnection();
    }

    /**
     * Opens and marks a database that has no tables of Parley, or the mark of the same move.
     *
     * @param from the source of the move
     * @param origin identity of its data; empty if they have none
     * @throws NotOpenedException if it is another one
     */
    static PostgresqlTarget open(DataSource source, String from, String origin) {
        try {
            var target = new PostgresqlTarget(source);
            try {
                target.begin(from, origin);
                return target;
            } catch (SQLException | RuntimeException failure) {
                target.connection.close();
                throw failure;
            }
        } catch (SQLException failure) {
            throw new NotOpenedException(
                    Reason.SERVER,
                    "cannot open the database, " + source + ": " + failure.getMessage()
                            + " (expected: an empty database of PostgreSQL, and the right to create tables in its schema)",
                    failure);
        }
    }

    private void begin(String from, String origin) throws SQLException {
        if (!isTrue(LOCK)) {
            throw new InUseException("the database is the target of another move, which runs");
        }
        connection.setAutoCommit(false); // a hub that starts sees the mark, or is seen
        try (Statement statement = connection.createStatement()) {
            statement.execute(PostgresqlSystem.START_ALONE);
        }
        mark(from, origin);
        connection.commit();
        connection.setAutoCommit(true);
    }

    private void mark(String from, String origin) throws SQLException {
        Optional<String> unfinished = UnfinishedMove.source(connection);
        if (unfinished.isEmpty()) {
            if (isTrue(HAS_TABLES)) {
                throw new NotOpenedException(
                        Reason.SETTING,
                        source + ": it has tables of Parley (expected: an empty database, or another schema by"
                                + " ?currentSchema=NAME)");
            }
            UnfinishedMove.begin(connection, from, origin);
        } else if (!UnfinishedMove.isOf(connection, from, origin)) {
            throw new NotOpenedException(
                    Reason.SETTING,
                    source + ": the move of " + unfinished.get() + " into it has not ended (expected: --data with the"
                            + " data of this directory, or an empty database)");
        }
    }

    private boolean isTrue(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** Makes the tables of the store and of these modules. */
    void make(List<ModuleTables> modules) throws SQLException {
        try (Database database = Database.open(source, UnfinishedMove::pass)) {
            modules.forEach(database::migrate);
        }
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET synchronous_commit = off"); // the commit that removes the mark is after all others
            try (ResultSet row = statement.executeQuery("SELECT max(stream_no) FROM stream")) {
                row.next();
                stream = row.getLong(1);
            }
        }
        connection.commit();
    }

    Connection connection() {
        return connection;
    }

    /** The number of the stream of the move. */
    long stream() {
        return stream;
    }

    /** Columns of the tables and views of the schema with their types. */
    Map<String, Map<String, String>> columns() throws SQLException {
        var tables = new LinkedHashMap<String, Map<String, String>>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT table_name, column_name, data_type"
                        + " FROM information_schema.columns WHERE table_schema = current_schema()"
                        + " ORDER BY table_name, ordinal_position")) {
            while (row.next()) {
                tables.computeIfAbsent(DatabaseSession.text(row, 1), any -> new LinkedHashMap<>())
                        .put(DatabaseSession.text(row, 2), DatabaseSession.text(row, 3));
            }
        }
        return tables;
    }

    /** Removes the rows that an earlier attempt has copied, and those that scripts have inserted. */
    void empty(List<TableCopy> tables) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DELETE FROM stream_end");
            for (TableCopy table : tables) {
                statement.execute("TRUNCATE \"" + table.table() + "\"");
            }
        }
        connection.commit();
    }

    /** Gives the chain of the audit its end, columns of numbers their next one, and the planner its statistics. */
    void complete(List<TableCopy> tables, long auditNumber, String auditHash) throws SQLException {
        for (String table : List.of("stream", "stream_group")) {
            try (PreparedStatement update = connection.prepareStatement(
                    "UPDATE " + table + " SET audit_no = ?, audit_hash = ? WHERE stream_no = ?")) {
                update.setLong(1, auditNumber);
                update.setString(2, auditHash);
                update.setLong(3, stream);
                update.executeUpdate();
            }
        }
        Map<String, List<String>> numbered = numbered();
        for (TableCopy table : tables) {
            for (String column : numbered.getOrDefault(table.table(), List.of())) {
                table.continueNumbers(connection, column);
            }
        }
        try (Statement statement = connection.createStatement()) {
            for (TableCopy table : tables) {
                statement.execute("ANALYZE \"" + table.table() + "\"");
            }
        }
        connection.commit();
    }

    private Map<String, List<String>> numbered() throws SQLException {
        var columns = new LinkedHashMap<String, List<String>>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT table_name, column_name FROM information_schema.columns"
                        + " WHERE table_schema = current_schema() AND is_identity = 'YES'")) {
            while (row.next()) {
                columns.computeIfAbsent(DatabaseSession.text(row, 1), any -> new ArrayList<>())
                        .add(DatabaseSession.text(row, 2));
            }
        }
        return columns;
    }

    /** Removes the mark. */
    void finish() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("RESET synchronous_commit");
        }
        UnfinishedMove.end(connection);
        connection.commit();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
