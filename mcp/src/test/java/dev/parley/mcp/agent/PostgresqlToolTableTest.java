package dev.parley.mcp.agent;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;

final class PostgresqlToolTableTest extends ToolTableContract {
    @Override
    Database open() throws IOException {
        return Database.open(PostgresqlServer.schema());
    }
}
