package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.gateway.route.Owners.Claim;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.ValueCipher;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Owners at two hubs that work with one PostgreSQL database. */
@Timeout(90)
@Tag("heavy")
final class SharedOwnersTest {
    private static final ValueCipher SEALING = ValueCipher.of(List.of(ValueCipher.newKey()));
    private static final Scope ALICE = new Scope("default", "alice");
    private static final Scope BOB = new Scope("default", "bob");

    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch pauses = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private volatile boolean isToPause;
    private Database one;
    private Database other;
    private Owners here;
    private Owners there;

    @BeforeEach
    void open() {
        one = schema.shared(this::pause);
        other = schema.shared();
        here = owners(one);
        there = owners(other);
    }

    private static Owners owners(Database database) {
        var unused = new RouteTable(database);
        return new Owners(database, InstantSource.system(), SEALING);
    }

    /** Stops the writer of the first hub between the two rows of a claim. */
    private void pause(String sql) {
        if (isToPause && sql.startsWith("INSERT INTO gateway_context")) {
            pauses.countDown();
            try {
                assertThat(goesOn.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @AfterEach
    void close() {
        goesOn.countDown();
        callers.close();
        one.close();
        other.close();
    }

    @Test
    void anErasedPrincipalOwnsNothingAtTheOtherHubWhenTheErasureIsAnswered() {
        assertThat(here.claim("r", ALICE, new Claim("t", "c", "replica"))).isTrue();
        assertThat(there.task("r", ALICE, "t")).contains("replica");
        assertThat(there.context("r", ALICE, "c")).contains("replica");

        assertThat(here.erase(ALICE)).isEqualTo(1);

        assertThat(there.task("r", ALICE, "t")).isEmpty();
        assertThat(there.context("r", ALICE, "c")).isEmpty();
        assertThat(there.claim("r", BOB, new Claim("t", null, ""))).isFalse();
    }

    @Test
    void theContextOfAnAnswerLeadsToItsReplicaAtTheOtherHubAtOnce() {
        for (int i = 0; i < 50; i++) {
            assertThat(here.claimSoon("r", ALICE, "c" + i, "replica")).isTrue();

            assertThat(there.claim("r", ALICE, new Claim(null, "c" + i, ""))).isTrue();
            assertThat(there.context("r", ALICE, "c" + i)).contains("replica");
            assertThat(there.claim("r", BOB, new Claim(null, "c" + i, ""))).isFalse();
        }
    }

    @Test
    void aHubLearnsTheReplicaThatAnotherOneHasWritten() {
        assertThat(here.claim("r", ALICE, new Claim(null, "c", ""))).isTrue();
        assertThat(here.context("r", ALICE, "c")).contains("");

        assertThat(there.claim("r", ALICE, new Claim("t", "c", "replica"))).isTrue();

        assertThat(here.context("r", ALICE, "c")).contains("replica");
    }

    @Test
    void ofClaimsOfOneIdAtBothHubsOneSucceeds() throws Exception {
        for (int i = 0; i < 100; i++) {
            String id = "t" + i;
            var start = new CountDownLatch(1);
            var claims = new ArrayList<CompletableFuture<Boolean>>();
            for (Scope owner : List.of(ALICE, BOB)) {
                Owners at = owner.equals(ALICE) ? here : there;
                claims.add(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                start.await();
                            } catch (InterruptedException stopped) {
                                throw new IllegalStateException(stopped);
                            }
                            return at.claim("r", owner, new Claim(id, "of " + id, ""));
                        },
                        callers));
            }

            start.countDown();

            boolean isOfAlice = claims.get(0).get(30, TimeUnit.SECONDS);
            assertThat(claims.get(1).get(30, TimeUnit.SECONDS)).isNotEqualTo(isOfAlice);
            assertThat(there.task("r", ALICE, id).isPresent()).isEqualTo(isOfAlice);
            assertThat(here.context("r", BOB, "of " + id).isPresent()).isNotEqualTo(isOfAlice);
        }
    }

    @Test
    void aHubThatPausesInAClaimStopsNoOtherClaims() throws Exception {
        isToPause = true;
        var ofAlice = CompletableFuture.supplyAsync(() -> here.claim("r", ALICE, new Claim("t", "c", "")), callers);
        assertThat(pauses.await(30, TimeUnit.SECONDS)).isTrue();

        var ofBob = CompletableFuture.supplyAsync(() -> there.claim("r", BOB, new Claim("t", "c", "")), callers);
        var another = CompletableFuture.supplyAsync(
                () -> {
                    boolean isClaimed = true;
                    for (int i = 0; i < 20; i++) {
                        isClaimed &= there.claim("r", BOB, new Claim("another" + i, "c" + i, ""));
                    }
                    return isClaimed;
                },
                callers);

        assertThat(another.get(5, TimeUnit.SECONDS)).isTrue();
        assertThat(ofBob).isNotDone();
        goesOn.countDown();
        assertThat(ofAlice.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(ofBob.get(30, TimeUnit.SECONDS)).isFalse();
        assertThat(there.task("r", ALICE, "t")).isPresent();
    }
}
