package dev.parley.store.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server that all tests of a virtual machine share, those of other modules too. It ends with the virtual machine. */
public final class PostgresqlServer {
    /** Time limit of the start of a server, beside other tests and on a slow disk. */
    public static final Duration STARTUP = Duration.ofMinutes(1);

    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static @Nullable EmbeddedPostgres server;

    private PostgresqlServer() {}

    private static synchronized EmbeddedPostgres server() throws IOException {
        EmbeddedPostgres started = server;
        if (started == null) {
            started = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "off") // processes are killed, not the machine
                    .setPGStartupWait(STARTUP)
                    .start();
            server = started;
        }
        return started;
    }

    /** Returns connections to a database. */
    public static DataSource database(String name) throws IOException {
        return server().getDatabase("postgres", name);
    }

    public static int port() throws IOException {
        return server().getPort();
    }

    /** Returns connections to an empty schema. */
    public static DataSource schema() throws IOException {
        return server().getDatabase("postgres", "postgres", Map.of("currentSchema", emptySchema()));
    }

    /** Returns the URL of an empty schema, as operators write it. */
    public static String url() throws IOException {
        String name = emptySchema();
        return "postgresql://postgres@localhost:" + port() + "/postgres?currentSchema=" + name;
    }

    /** Returns the name of an empty schema. */
    static String emptySchema() throws IOException {
        String name = "schema" + SCHEMAS.incrementAndGet();
        try (Connection connection = server().getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + name);
        } catch (SQLException failure) {
            throw new IOException(failure);
        }
        return name;
    }

    /** Connects to the schema of a URL. */
    public static Connection connect(String url) throws SQLException {
        return DriverManager.getConnection(url.replace("postgresql://postgres@", "jdbc:postgresql://"), "postgres", "");
    }

    /** Returns all rows of all tables of a schema as text. */
    public static String rows(String url) throws SQLException {
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
}
