package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

class PostgresqlGraphLimitsTest extends GraphLimitsContract {
    private @Nullable PostgresqlServer server;

    @Override
    Database database(Path directory) throws IOException {
        server = new PostgresqlServer();
        return server.database();
    }

    @AfterAll
    @Override
    void close() throws IOException {
        super.close();
        requireNonNull(server).close();
    }
}
