package dev.parley.registry.vault;

import dev.parley.hub.HubBuilder;
import dev.parley.store.database.PostgresqlServer;
import org.junit.jupiter.api.Tag;

/** The same on PostgreSQL. */
@Tag("heavy")
class PostgresqlVaultApiTest extends VaultApiTest {
    @Override
    HubBuilder on(HubBuilder builder) throws java.io.IOException {
        return super.on(builder).database(PostgresqlServer.url());
    }
}
