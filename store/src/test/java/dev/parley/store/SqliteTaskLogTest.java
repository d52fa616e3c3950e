package dev.parley.store;

import dev.parley.engine.spi.TaskLog;
import dev.parley.testkit.TaskLogContract;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.io.TempDir;

final class SqliteTaskLogTest extends TaskLogContract {
    @TempDir
    Path directory = Path.of("");

    @Override
    protected TaskLog open(InstantSource clock) {
        return Store.open(directory, clock).log();
    }
}
