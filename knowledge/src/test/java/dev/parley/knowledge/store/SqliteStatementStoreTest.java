package dev.parley.knowledge.store;

import dev.parley.store.database.Database;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** KG27 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SqliteStatementStoreTest extends StatementStoreContract {
    private Database database;
    private StatementStore store;

    @BeforeAll
    void open(@TempDir Path directory) {
        database = Database.open(directory);
        store = new SqlStatementStore(database, clock);
    }

    @AfterAll
    void close() {
        database.close();
    }

    @Override
    protected StatementStore store() {
        return store;
    }
}
