package dev.parley.knowledge;

import dev.parley.store.database.Session;
import java.sql.SQLException;

/** A question to the tables of graphs. */
interface Asking<T> {
    T ask(Session session, Space space) throws SQLException;
}
