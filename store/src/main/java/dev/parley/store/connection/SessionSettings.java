package dev.parley.store.connection;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Settings of a PostgreSQL session: time limits by which the hub and the server detect a lost peer, and JIT compilation off. The planner
 * overestimates the cost of lookups in large tables, so that the JIT compilation of a statement takes longer than its execution.
 */
public final class SessionSettings {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /**
     * A connection on which nothing has come for so long within an answer is given up, unless the URL has a {@code socketTimeout} of its
     * own. The server ends a statement a little earlier by itself, so that only a server that hangs costs the connection.
     */
    private static final int LONGEST_MS = 60_000;

    /**
     * For each session. The server finds within half a minute that the hub is gone, also if the network does not say so: it holds the lock
     * until then.
     */
    public static final String ALWAYS = "; SET jit = off; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5"
            + "; SET tcp_keepalives_count = 3";

    private SessionSettings() {}

    /** @param isPooled whether the session of the server is that of others, too, and is to stay as it is */
    public static void set(Connection connection, boolean isPooled) throws SQLException {
        if (connection.getNetworkTimeout() == 0) {
            connection.setNetworkTimeout(Runnable::run, LONGEST_MS);
        }
        if (isPooled) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET statement_timeout = " + connection.getNetworkTimeout() / 6 * 5 + ALWAYS);
        }
    }

    /** Has the server find at once that the hub was killed, also while a statement waits, if its system can tell. */
    public static void findClosed(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET client_connection_check_interval = 500");
        } catch (SQLException refused) {
            if (!Outage.isOfData(refused)) {
                throw refused;
            }
            LOG.log(Level.DEBUG, "the system of the server does not tell it that a connection was closed", refused);
        }
    }
}
