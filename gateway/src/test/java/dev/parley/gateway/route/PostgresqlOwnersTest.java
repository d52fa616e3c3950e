package dev.parley.gateway.route;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;

final class PostgresqlOwnersTest extends OwnersContract {
    @Override
    Database open() throws IOException {
        return Database.open(PostgresqlServer.schema());
    }
}
