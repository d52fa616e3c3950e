package dev.parley.store.database;

import java.sql.SQLException;

/** A read of the database. */
@FunctionalInterface
public interface DatabaseRead<T> {
    T ask(DatabaseSession session) throws SQLException;
}
