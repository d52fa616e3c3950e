package dev.parley.store;

import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.PushStoreContract;
import java.io.IOException;
import java.sql.SQLException;
import java.time.InstantSource;

final class PostgresqlPushStoreTest extends PushStoreContract {
    @Override
    protected Stores open(InstantSource clock) throws IOException, SQLException {
        Store store = Store.open(PostgresqlServer.schema(), clock, EncryptionAtRest.PLAIN);
        return new Stores(store.log(), store.webhooks());
    }
}
