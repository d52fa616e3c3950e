package dev.parley.activity;

import java.io.IOException;

/** The same on PostgreSQL. */
class PostgresqlTasksOfAllAgentsTest extends TasksOfAllAgentsTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
