package dev.parley.registry.search;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import org.junit.jupiter.api.Tag;

@Tag("heavy")
final class PostgresqlSearchTest extends SearchContract {
    @Override
    Database open() throws IOException {
        return Database.open(PostgresqlServer.schema());
    }
}
