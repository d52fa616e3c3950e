package dev.parley.mesh.workflow;

import java.io.IOException;

/** The same on PostgreSQL. */
final class PostgresqlVotesHubTest extends VotesHubTest {
    @Override
    TestDatabase database() throws IOException {
        return TestDatabase.postgresql(data);
    }
}
