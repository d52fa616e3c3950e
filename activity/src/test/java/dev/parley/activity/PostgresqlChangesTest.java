package dev.parley.activity;

import java.io.IOException;
import org.junit.jupiter.api.Tag;

/** The same on PostgreSQL. */
@Tag("heavy")
class PostgresqlChangesTest extends ChangesTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
