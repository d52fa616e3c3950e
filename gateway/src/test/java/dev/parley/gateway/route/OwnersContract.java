package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.gateway.route.Owners.Claim;
import dev.parley.gateway.route.Route.State;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.ValueCipher;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Routes and owners in a database, as two hubs see them. */
@Timeout(60)
abstract class OwnersContract {
    private static final ValueCipher SEALING = ValueCipher.of(List.of(ValueCipher.newKey()));
    private static final Scope ALICE = new Scope("default", "alice");
    private static final Scope BOB = new Scope("default", "bob");

    private Database database;
    private RouteTable table;
    private Owners here;
    private Owners there;

    abstract Database open() throws IOException;

    @BeforeEach
    void begin() throws IOException {
        database = open();
        table = new RouteTable(database);
        here = new Owners(database, InstantSource.system(), SEALING);
        there = new Owners(database, InstantSource.system(), SEALING);
    }

    @AfterEach
    void end() {
        database.close();
    }

    @Test
    void anIdBelongsToThePrincipalThatGotItFirstAtBothHubs() {
        assertThat(here.claim("r", ALICE, new Claim("t", "c", "replica"))).isTrue();

        assertThat(there.claim("r", BOB, new Claim("t", "other", ""))).isFalse();
        assertThat(there.claim("r", BOB, new Claim("other", "c", ""))).isFalse();
        assertThat(there.task("r", BOB, "t")).isEmpty();
        assertThat(there.task("r", BOB, "other")).isEmpty();
        assertThat(there.task("r", ALICE, "t")).contains("replica");
        assertThat(there.context("r", ALICE, "c")).contains("replica");
        assertThat(there.task("another route", ALICE, "t")).isEmpty();
    }

    @Test
    void ofManyClaimsOfOneIdAtTheSameTimeOneSucceeds() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> claims = threads.invokeAll(IntStream.range(0, 20)
                    .mapToObj(i -> (Callable<Boolean>) () -> (i % 2 == 0 ? here : there)
                            .claim("r", new Scope("group-" + i, "p"), new Claim("t", null, "")))
                    .toList());
            int owners = 0;
            for (Future<Boolean> claim : claims) {
                owners += claim.get() ? 1 : 0;
            }
            assertThat(owners).isEqualTo(1);
        }
    }

    @Test
    void erasedIdsBelongToNoPrincipalAndCannotBeClaimed() {
        assertThat(here.claim("r", ALICE, new Claim("t", "c", ""))).isTrue();

        assertThat(there.erase(ALICE)).isEqualTo(1);
        here.forget();

        assertThat(here.task("r", ALICE, "t")).isEmpty();
        assertThat(here.claim("r", BOB, new Claim("t", null, ""))).isFalse();
    }

    @Test
    void aChangedRouteIsReadAsItIsAndRemovalTakesTheOwnersAway() {
        table.put(Route.of("r", "http://x.example", Map.of("retries", 1)));
        var changed = table.change("r", route -> route.with(new byte[] {1, 2}).in(State.PAUSED, "night", null));
        assertThat(here.claim("r", ALICE, new Claim("t", "c", ""))).isTrue();

        assertThat(changed).isPresent();
        assertThat(table.named("r"))
                .hasValueSatisfying(route -> assertThat(route.reason()).isEqualTo("night"))
                .hasValueSatisfying(route -> assertThat(route.card()).containsExactly(1, 2))
                .hasValueSatisfying(route -> assertThat(route.options()).containsEntry("retries", 1));
        assertThat(table.change("none", route -> route)).isEmpty();

        table.configure(Route.of("r", "http://x.example", Map.of()));
        assertThat(table.named("r"))
                .hasValueSatisfying(route -> assertThat(route.reason()).isEqualTo("night"));
        table.configure(Route.of("r", "http://y.example", Map.of()));
        assertThat(table.named("r"))
                .hasValueSatisfying(route -> assertThat(route.url()).isEqualTo("http://y.example"));

        assertThat(table.remove("r")).isTrue();
        assertThat(table.remove("r")).isFalse();
        here.forget();
        assertThat(here.task("r", ALICE, "t")).isEmpty();
        assertThat(table.all()).isEmpty();
    }
}
