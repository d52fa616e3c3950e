package dev.parley.gateway.route;

import dev.parley.store.database.Database;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class SqliteOwnersTest extends OwnersContract {
    @TempDir
    private Path directory;

    @Override
    Database open() {
        return Database.open(directory);
    }
}
