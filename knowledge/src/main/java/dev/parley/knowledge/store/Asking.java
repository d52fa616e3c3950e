package dev.parley.knowledge.store;

import dev.parley.store.database.Session;
import java.sql.SQLException;

/** A question to the tables of graphs. */
public interface Asking<T> {
    T ask(Session session, Space space) throws SQLException;
}
