package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.sql.Connection;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("heavy")
final class PostgresqlOwnersTest extends OwnersContract {
    private @Nullable DataSource server;

    @Override
    Database open() throws IOException {
        DataSource schema = PostgresqlServer.schema();
        server = schema;
        return Database.open(schema);
    }

    @Test
    void aClaimThatMeetsTheOneOfAnotherHubIsRepeatedAndRefused() throws Exception {
        try (Database database = open();
                Connection another = Objects.requireNonNull(server).getConnection()) {
            var unused = new RouteTable(database);
            var owners = new Owners(database, InstantSource.system(), ValueCipher.of(List.of(ValueCipher.newKey())));
            another.setAutoCommit(false);
            another.createStatement()
                    .execute("INSERT INTO gateway_context (route, id, group_id, owner, replica)"
                            + " VALUES ('r', 'c', 'default', 'bob', '')");
            var claimed = new CompletableFuture<Boolean>();

            Thread.ofVirtual()
                    .start(() -> claimed.complete(
                            owners.claim("r", new Scope("default", "alice"), new Owners.Claim("t", "c", ""))));
            Eventually.holds(
                    "the hub waits for the other transaction",
                    () -> claimed.isDone()
                            || database.<Long>read(session ->
                                            session.number("SELECT count(*) FROM pg_locks WHERE NOT granted"))
                                    > 0);
            another.commit();

            assertThat(claimed.get(60, TimeUnit.SECONDS)).isFalse();
            assertThat(database.<Long>read(session -> session.number("SELECT count(*) FROM gateway_task")))
                    .isZero();
        }
    }
}
