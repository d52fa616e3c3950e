package dev.parley.store.database;

import java.sql.SQLException;

/** A question that is answered by reading. */
@FunctionalInterface
public interface Question<T> {
    T ask(Session session) throws SQLException;
}
