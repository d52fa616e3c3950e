package dev.parley.knowledge;

import dev.parley.store.database.Database;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;

/** A PostgreSQL server with an empty database. */
final class PostgresqlServer implements AutoCloseable {
    private final EmbeddedPostgres server;

    PostgresqlServer() throws IOException {
        // Nothing has to survive it.
        server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
    }

    Database database() {
        return Database.open(server.getPostgresDatabase());
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
