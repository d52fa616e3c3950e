package dev.parley.activity;

import java.io.IOException;

/** The same on PostgreSQL. */
class PostgresqlHistoryTest extends HistoryTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
