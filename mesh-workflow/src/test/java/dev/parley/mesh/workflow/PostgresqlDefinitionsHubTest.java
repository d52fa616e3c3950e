package dev.parley.mesh.workflow;

import java.io.IOException;

/** The same on PostgreSQL. */
final class PostgresqlDefinitionsHubTest extends DefinitionsHubTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
