package dev.parley.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Connections to PostgreSQL. The lock that keeps other hubs out belongs to the connection that writes, so that a hub
 * that has lost the lock cannot write either.
 */
record PostgresqlConnector(DataSource source) implements Connector {

    /** Number that other programs are unlikely to lock: "parley" on a telephone keypad. */
    private static final long POSTGRESQL_LOCK = 727539;

    @Override
    public Connection connect(Use use) throws SQLException {
        Connection connection = source.getConnection();
        try {
            connection.setReadOnly(use == Use.READ);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            if (use == Use.WRITE) {
                lock(connection);
                connection.setAutoCommit(false);
            }
            return connection;
        } catch (SQLException | RuntimeException failure) {
            close(connection);
            throw failure;
        }
    }

    private static void lock(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_try_advisory_lock(" + POSTGRESQL_LOCK + ")")) {
            row.next();
            if (!row.getBoolean(1)) {
                throw new SQLException("the database is in use by another hub (expected: one hub per database)");
            }
        }
    }

    /** Ends the server's session too, even if a pool would keep it, and so frees the lock. */
    @Override
    public void close(Connection connection) throws SQLException {
        try {
            connection.abort(Runnable::run);
        } finally {
            connection.close();
        }
    }
}
