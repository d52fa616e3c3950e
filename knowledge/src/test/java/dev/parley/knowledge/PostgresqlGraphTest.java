package dev.parley.knowledge;

import dev.parley.store.Database;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

class PostgresqlGraphTest extends GraphContract {
    private @Nullable EmbeddedPostgres server;

    @Override
    Database database(Path directory) throws IOException {
        server = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start();
        return Database.open(server.getPostgresDatabase());
    }

    @AfterAll
    @Override
    void close() throws IOException {
        super.close();
        if (server != null) {
            server.close();
        }
    }
}
