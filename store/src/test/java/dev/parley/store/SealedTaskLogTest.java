package dev.parley.store;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.testkit.TaskLogContract;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

final class SealedTaskLogTest extends TaskLogContract {
    private static final EncryptionAtRest SEALED =
            new EncryptionAtRest(ValueCipher.of(List.of(ValueCipher.newKey())), true);

    @TempDir
    Path directory = Path.of("");

    @Override
    protected TaskLog open(InstantSource clock, Once once) {
        return Store.in(Database.open(directory), clock, SEALED, once).log();
    }
}
