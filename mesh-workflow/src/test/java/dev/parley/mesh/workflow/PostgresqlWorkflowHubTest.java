package dev.parley.mesh.workflow;

import java.io.IOException;
import org.junit.jupiter.api.Tag;

/** The same on PostgreSQL. */
@Tag("heavy")
final class PostgresqlWorkflowHubTest extends WorkflowHubTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
