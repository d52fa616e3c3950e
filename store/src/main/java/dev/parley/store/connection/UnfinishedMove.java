package dev.parley.store.connection;

import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/**
 * The mark of a PostgreSQL database into which another one is being moved: a table with the name of the source and the identity of
 * its data. It is there before the first row, and until the move is complete and verified.
 */
public final class UnfinishedMove {
    private static final String TABLE = "unfinished_move";

    private UnfinishedMove() {}

    /** Returns the source of the move that has not ended; empty if there is none. */
    public static Optional<String> source(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery("SELECT to_regclass('" + TABLE + "') IS NULL")) {
                row.next();
                if (row.getBoolean(1)) {
                    return Optional.empty();
                }
            }
            try (ResultSet row = statement.executeQuery("SELECT source FROM " + TABLE)) {
                return Optional.of(row.next() ? String.valueOf(row.getObject(1, String.class)) : "");
            }
        }
    }

    /**
     * Whether the move that has not ended is one of these data.
     *
     * @param origin identity of the data, which decides if both moves have one; empty if they have none yet
     */
    public static boolean isOf(Connection connection, String source, String origin) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "SELECT CASE WHEN '' IN (origin, ?) THEN source = ? ELSE origin = ? END FROM " + TABLE)) {
            statement.setString(1, origin);
            statement.setString(2, source);
            statement.setString(3, origin);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    /** Marks an empty database, in one transaction. */
    public static void begin(Connection connection, String source, String origin) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE " + TABLE + " AS SELECT " + text(source) + " AS source, " + text(origin)
                    + " AS origin");
        }
    }

    private static String text(String value) {
        return "CAST('" + value.replace("'", "''") + "' AS text)";
    }

    public static void end(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE " + TABLE);
        }
    }

    /** Has {@link #refuse} let a connection of the move itself pass. */
    public static Connection pass(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET parley.move = 'on'");
        }
        return connection;
    }

    private static boolean isPassed(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_setting('parley.move', true) = 'on'")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** @throws NotOpenedException if a move has not ended, unless it opens the database itself */
    public static void refuse(Connection connection) throws SQLException {
        if (isPassed(connection)) {
            return;
        }
        Optional<String> source = source(connection);
        if (source.isPresent()) {
            throw new NotOpenedException(
                    Reason.SERVER,
                    "the database has a part of the data of " + source.get()
                            + ": their move has not ended (expected: parley migrate, repeated until it succeeds; or the"
                            + " earlier data directory, which is unchanged)");
        }
    }
}
