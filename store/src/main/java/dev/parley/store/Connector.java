package dev.parley.store;

import java.sql.Connection;
import java.sql.SQLException;

/** Opens connections, and closes those that failed. */
interface Connector {
    /** Purpose of a connection. */
    enum Use {
        READ,
        WRITE,
        /** Writes, and is in no transaction unless a statement needs one. */
        MAINTAIN
    }

    Connection connect(Use use) throws SQLException;

    default void close(Connection connection) throws SQLException {
        connection.close();
    }

    /** A connector for one purpose. */
    record Opening(Connector connector, Use use) {
        Connection open() throws SQLException {
            return connector.connect(use);
        }

        void close(Connection connection) throws SQLException {
            connector.close(connection);
        }
    }
}
