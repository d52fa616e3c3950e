package dev.parley.registry.vault;

import dev.parley.hub.HubBuilder;
import dev.parley.store.database.PostgresqlServer;

/** The same on PostgreSQL. */
class PostgresqlVaultApiTest extends VaultApiTest {
    @Override
    HubBuilder on(HubBuilder builder) throws java.io.IOException {
        return super.on(builder).database(PostgresqlServer.url());
    }
}
