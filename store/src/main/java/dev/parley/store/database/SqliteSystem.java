package dev.parley.store.database;

import dev.parley.store.connection.Connector;
import dev.parley.store.files.DataFiles;
import java.sql.Connection;
import java.sql.SQLException;

/** SQLite, in a file. */
public record SqliteSystem(Connector connector, DataFiles files) implements DatabaseSystem {
    @Override
    public Connection connect(Use use) throws SQLException {
        files.requireOpen();
        return connector.connect(use);
    }

    @Override
    public void close(Connection connection) throws SQLException {
        if (files.mayClose()) {
            connector.close(connection);
        }
    }

    @Override
    public DatabaseKind kind() {
        return DatabaseKind.SQLITE;
    }

    @Override
    public String spelled(String sql) {
        return sql.replace(" KEY PRIMARY KEY", " INTEGER PRIMARY KEY").replace(") ROWLESS", ") WITHOUT ROWID");
    }

    @Override
    public String jsonTexts() {
        return "json_each(?)";
    }

    @Override
    public long schema(DatabaseSession session) throws SQLException {
        return session.number("PRAGMA user_version");
    }

    @Override
    public int currentSchema() {
        return SqliteFile.SCHEMA;
    }

    @Override
    public void lockTimeout(DatabaseSession session, int millis) throws SQLException {
        session.once("PRAGMA busy_timeout=" + millis);
    }

    /** Takes the lock: a first read would lose its snapshot to a checkpoint that empties the log. */
    @Override
    public void begin(DatabaseSession session) throws SQLException {
        session.update("DELETE FROM module_version WHERE 0");
    }

    /** Changes a number, because SQLite does not write a row that stays as it is. */
    @Override
    public void touch(DatabaseSession session) throws SQLException {
        session.update("INSERT INTO module_version (module, version) VALUES ('touched', 0)"
                + " ON CONFLICT (module) DO UPDATE SET version = 1 - version");
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        begin(session);
    }
}
