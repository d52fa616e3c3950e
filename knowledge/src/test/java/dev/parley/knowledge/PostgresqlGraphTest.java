package dev.parley.knowledge;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("heavy")
class PostgresqlGraphTest extends GraphContract {
    @Override
    Database database(Path directory) throws IOException {
        return Database.open(PostgresqlServer.schema());
    }
}
