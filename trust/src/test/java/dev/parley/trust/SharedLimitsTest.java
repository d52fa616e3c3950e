package dev.parley.trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.LimitSettings.Limit;
import dev.parley.trust.Limits.Taken;
import dev.parley.trust.shared.Buckets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Limits of hubs that work with one PostgreSQL database, which all together do not exceed. */
@Timeout(60)
@Tag("heavy")
final class SharedLimitsTest {
    private static final Principal ALICE = new Principal("T1", "alice", Set.of());
    private static final Principal BOB = new Principal("T1", "bob", Set.of());

    private final SharedSchema schema = new SharedSchema();
    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T22:00:00Z"));
    private final List<Database> databases = new ArrayList<>();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @BeforeEach
    void open() {
        databases.add(schema.shared());
        databases.add(schema.shared());
    }

    @AfterEach
    void close() {
        callers.close();
        databases.forEach(Database::close);
    }

    private List<Limits> hubs(Limit principal) {
        return databases.stream()
                .map(database ->
                        new Limits(new LimitSettings(principal, Limit.NONE, Limit.NONE), clock, Buckets.of(database)))
                .toList();
    }

    private static boolean isTaken(Limits limits, Principal caller) {
        try {
            limits.take(caller, caller.group(), "echo").giveBack().run();
            return true;
        } catch (A2AException refused) {
            assertThat(refused.error()).isEqualTo(A2AError.RATE_LIMITED);
            assertThat(refused.retryAfter()).isPositive();
            return false;
        }
    }

    /** Calls all hubs from several threads for a time, and returns the admitted calls. */
    private int hammer(List<Limits> hubs, Duration time) throws Exception {
        var taken = new AtomicInteger();
        long end = System.nanoTime() + time.toNanos();
        var threads = new ArrayList<Future<?>>();
        for (int i = 0; i < 8; i++) {
            Limits hub = hubs.get(i % hubs.size());
            threads.add(callers.submit(() -> {
                while (System.nanoTime() - end < 0) {
                    if (isTaken(hub, ALICE)) {
                        taken.incrementAndGet();
                    }
                }
            }));
        }
        for (Future<?> thread : threads) {
            thread.get();
        }
        return taken.get();
    }

    @Test
    void allHubsTogetherDoNotExceedARate() throws Exception {
        List<Limits> hubs = hubs(new Limit(200, 200, 0, 0));

        long began = System.nanoTime();
        int taken = hammer(hubs, Duration.ofSeconds(3));
        double seconds = (System.nanoTime() - began) / 1e9;

        assertThat((double) taken).isLessThanOrEqualTo(200 + 200 * seconds);
        assertThat((double) taken).as("of 600 a burst and a rate").isGreaterThan(500);
    }

    @Test
    void callsThatComeTogetherDoNotExceedABurst() {
        for (long burst : List.of(1L, 2L, 7L, 30L, 100L)) {
            List<Limits> hubs = hubs(new Limit(0.01, burst, 0, 0));
            var caller = new Principal("T1", "alice" + burst, Set.of());
            int taken = 0;
            for (int i = 0; i < 2 * burst + 2; i++) {
                taken += isTaken(hubs.get(i % 2), caller) ? 1 : 0;
            }

            assertThat((long) taken).as("burst of %s", burst).isBetween(burst - 1, burst);
        }
    }

    @Test
    void quotasOfADayAreOfAllHubs() throws Exception {
        List<Limits> hubs = hubs(new Limit(0, 0, 0, 100));

        assertThat(hammer(hubs, Duration.ofSeconds(1))).isEqualTo(100);

        assertThat(isTaken(hubs.getFirst(), BOB)).isTrue();
        assertThat(hubs.getLast().take(BOB, BOB.group(), "echo").headers())
                .containsEntry("RateLimit-Limit", "100")
                .containsEntry("RateLimit-Remaining", "98");
        clock.advance(Duration.ofHours(2));
        assertThat(hammer(hubs, Duration.ofSeconds(1))).isEqualTo(100);
    }

    @Test
    void callsAtOnceAreSharedByTheHubs() {
        List<Limits> hubs = hubs(new Limit(0, 0, 5, 0));
        Eventually.holds(
                "the hubs know each other",
                () -> databases.stream()
                        .allMatch(database -> database.access().epochs().hubs() == 2));

        for (Limits hub : hubs) {
            Taken first = hub.take(ALICE, ALICE.group(), "echo");
            hub.take(ALICE, ALICE.group(), "echo");
            assertThatThrownBy(() -> hub.take(ALICE, ALICE.group(), "echo")).isInstanceOf(A2AException.class);
            first.giveBack().run();
            hub.take(ALICE, ALICE.group(), "echo");
        }
    }

    @Test
    void aHubThatHasItsDatabaseAloneBorrowsNothing(@TempDir Path directory) {
        try (Database alone = Database.open(directory)) {
            assertThat(Buckets.of(alone)).isNull();
        }
    }
}
