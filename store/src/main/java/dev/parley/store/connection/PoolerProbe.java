package dev.parley.store.connection;

import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Finds a pooler that gives each transaction another session of the server, as PgBouncer does in transaction mode: locks and settings of a
 * session may then belong to another client. One connection sets a name while a second one holds a transaction; each reads the name that it sees.
 */
public final class PoolerProbe {
    private static final int PATIENCE_MS = 3_000;

    private static final String NAME = "SELECT current_setting('parley.probe', true)";

    private PoolerProbe() {}

    /**
     * Refuses a pooler in transaction mode.
     *
     * @throws NotOpenedException if one is found
     */
    public static void require(DataSource source) throws SQLException {
        String name = UUID.randomUUID().toString();
        try (Connection first = source.getConnection();
                Connection second = source.getConnection()) {
            first.setNetworkTimeout(Runnable::run, PATIENCE_MS);
            second.setNetworkTimeout(Runnable::run, PATIENCE_MS);
            set(first, name);
            second.setAutoCommit(false);
            boolean isShared = name.equals(name(second));
            if (isShared || !name.equals(ownName(first))) {
                throw new NotOpenedException(
                        Reason.SETTING,
                        source
                                + ": a pooler in transaction mode answers, which breaks the lock that keeps other hubs out"
                                + " (expected: the server itself, or the pooler with the server named by ?direct=host:port)");
            }
        }
    }

    private static void set(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET parley.probe = '" + name + "'");
        }
    }

    /** A pooler with one session of the server does not answer while the other connection has it. */
    private static String ownName(Connection connection) {
        try {
            return name(connection);
        } catch (SQLException silent) {
            return "";
        }
    }

    private static String name(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(NAME)) {
            row.next();
            return String.valueOf(row.getObject(1, String.class));
        }
    }
}
