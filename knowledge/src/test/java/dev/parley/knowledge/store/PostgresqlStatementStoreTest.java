package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/** KG27 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
class PostgresqlStatementStoreTest extends StatementStoreContract {
    private @Nullable Database database;
    private @Nullable StatementStore store;

    @BeforeAll
    void open() throws IOException {
        database = Database.open(PostgresqlServer.schema());
        store = new SqlStatementStore(database, clock);
    }

    @AfterAll
    void close() {
        requireNonNull(database).close();
    }

    @Override
    protected StatementStore store() {
        return requireNonNull(store);
    }
}
