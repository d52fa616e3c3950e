package dev.parley.knowledge.store;

import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;

/** A question to the tables of graphs. */
public interface Asking<T> {
    T ask(DatabaseSession session, GroupCache space) throws SQLException;
}
