package dev.parley.store.connection;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A server of PostgreSQL and its history.
 *
 * @param system identifier of the cluster, which its standbys share
 * @param timeline changes when a standby is promoted; empty while the server is a standby
 */
public record ServerIdentity(long system, String timeline) {
    /** The server refuses a connection for now, as PostgreSQL has it. */
    private static final String REFUSED = "08004";

    /** A connection for reading has met another server than the one that is written. */
    public static final class OtherServerException extends SQLException {
        private static final long serialVersionUID = 1L;

        OtherServerException(String message) {
            super(message, REFUSED);
        }
    }

    public static ServerIdentity of(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT system_identifier, CASE WHEN pg_is_in_recovery() THEN ''"
                        + " ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()")) {
            row.next();
            return new ServerIdentity(row.getLong(1), row.getObject(2, String.class));
        }
    }

    private boolean isStandby() {
        return timeline.isEmpty();
    }

    /** @throws SQLException if the server is a standby */
    public void requirePrimary() throws SQLException {
        if (isStandby()) {
            throw new SQLException("the server is a standby, which cannot be written (expected: the primary)", REFUSED);
        }
    }

    /** @throws OtherServerException if {@code read} is not this server, at the same stage of its history */
    public void require(ServerIdentity read) throws OtherServerException {
        if (!equals(read)) {
            throw new OtherServerException(
                    read.isStandby()
                            ? "the server is a standby, which may lack what was written last (expected: the primary)"
                            : "the server is not the one that is written: its system identifier or timeline is another one");
        }
    }
}
