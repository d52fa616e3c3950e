package dev.parley.store.spi;

import java.sql.Connection;
import java.sql.SQLException;

/** Wraps each connection that a database opens: for tests that have the disk fail, and for tracing. */
@FunctionalInterface
public interface Wrapper {
    Connection wrap(Connection connection) throws SQLException;
}
