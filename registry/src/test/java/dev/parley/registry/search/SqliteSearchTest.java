package dev.parley.registry.search;

import dev.parley.store.database.Database;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@Tag("heavy")
final class SqliteSearchTest extends SearchContract {
    @TempDir
    private Path directory;

    @Override
    Database open() {
        return Database.open(directory);
    }
}
