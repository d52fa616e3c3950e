package dev.parley.knowledge;

import dev.parley.store.database.Database;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

@Tag("heavy")
class SqliteGraphTest extends GraphContract {
    @Override
    Database database(Path directory) {
        return Database.open(directory);
    }
}
