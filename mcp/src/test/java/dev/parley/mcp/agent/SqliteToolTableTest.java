package dev.parley.mcp.agent;

import dev.parley.store.database.Database;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class SqliteToolTableTest extends ToolTableContract {
    @TempDir
    private Path directory;

    @Override
    Database open() {
        return Database.open(directory);
    }
}
