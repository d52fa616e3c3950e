package dev.parley.activity;

import java.io.IOException;

/** The same on PostgreSQL. */
class PostgresqlChangesTest extends ChangesTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
