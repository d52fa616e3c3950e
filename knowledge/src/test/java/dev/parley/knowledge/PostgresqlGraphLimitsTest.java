package dev.parley.knowledge;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** Graphs on PostgreSQL; the same limits on SQLite are tested with every build. */
@Tag("heavy")
class PostgresqlGraphLimitsTest extends GraphLimitsContract {
    @Override
    Database database(Path directory) throws IOException {
        return Database.open(PostgresqlServer.schema());
    }
}
