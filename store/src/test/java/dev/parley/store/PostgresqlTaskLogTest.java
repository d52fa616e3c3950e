package dev.parley.store;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.TaskLogContract;
import java.io.IOException;
import java.sql.SQLException;
import java.time.InstantSource;
import org.junit.jupiter.api.Tag;

@Tag("heavy")
final class PostgresqlTaskLogTest extends TaskLogContract {
    @Override
    protected TaskLog open(InstantSource clock, Once once) throws IOException, SQLException {
        return Store.in(Database.open(PostgresqlServer.schema()), clock, EncryptionAtRest.PLAIN, once)
                .log();
    }
}
