package dev.parley.store.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server that all tests of the module share. It ends with the virtual machine. */
public final class PostgresqlServer {
    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static @Nullable EmbeddedPostgres server;

    private PostgresqlServer() {}

    private static synchronized EmbeddedPostgres server() throws IOException {
        EmbeddedPostgres started = server;
        if (started == null) {
            started = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "off") // nothing has to survive it
                    .start();
            server = started;
        }
        return started;
    }

    /** Returns connections to a database. */
    public static DataSource database(String name) throws IOException {
        return server().getDatabase("postgres", name);
    }

    static int port() throws IOException {
        return server().getPort();
    }

    /** Returns connections to an empty schema. */
    public static DataSource schema() throws IOException, SQLException {
        return server().getDatabase("postgres", "postgres", Map.of("currentSchema", emptySchema()));
    }

    /** Returns the name of an empty schema. */
    static String emptySchema() throws IOException, SQLException {
        String name = "schema" + SCHEMAS.incrementAndGet();
        try (Connection connection = server().getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + name);
        }
        return name;
    }
}
