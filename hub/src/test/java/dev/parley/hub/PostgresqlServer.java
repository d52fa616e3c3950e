package dev.parley.hub;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server that tests share. It ends with the virtual machine. */
final class PostgresqlServer {
    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static @Nullable EmbeddedPostgres server;

    private PostgresqlServer() {}

    /** Returns all rows of all tables of a schema as text. */
    static String rows(String url) throws SQLException {
        var rows = new StringBuilder();
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            statement.execute("SET bytea_output = 'escape'");
            var tables = new ArrayList<String>();
            try (ResultSet names =
                    statement.executeQuery("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")) {
                while (names.next()) {
                    tables.add(names.getString(1));
                }
            }
            for (String table : tables) {
                try (ResultSet row = statement.executeQuery("SELECT CAST(t AS TEXT) FROM " + table + " AS t")) {
                    while (row.next()) {
                        rows.append(row.getString(1)).append('\n');
                    }
                }
            }
        }
        return rows.toString();
    }

    /** Connects to a schema. */
    static Connection connect(String url) throws SQLException {
        return DriverManager.getConnection(url.replace("postgresql://postgres@", "jdbc:postgresql://"), "postgres", "");
    }

    /** Returns the URL of an empty schema. */
    static synchronized String schema() throws IOException, SQLException {
        EmbeddedPostgres started = server;
        if (started == null) {
            started = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "off") // processes are killed, not the machine
                    .start();
            server = started;
        }
        String name = "hub" + SCHEMAS.incrementAndGet();
        try (Connection connection = started.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + name);
        }
        return "postgresql://postgres@localhost:" + started.getPort() + "/postgres?currentSchema=" + name;
    }
}
