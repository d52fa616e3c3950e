package dev.parley.store.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Changes that hubs of one PostgreSQL database have to see before they are answered. */
@Timeout(90)
@Tag("heavy")
final class EpochsTest {
    private final SharedSchema schema = new SharedSchema();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Database> hubs = new ArrayList<>();

    @AfterEach
    void close() {
        callers.close();
        hubs.forEach(Database::close);
    }

    private Database hub() {
        return added(schema.shared());
    }

    private Database added(Database hub) {
        hubs.add(hub);
        return hub;
    }

    private static Epochs epochs(Database hub) {
        return hub.access().epochs();
    }

    private static long bump(Database hub) {
        return hub.write(session -> epochs(hub).bump(session, Epoch.DIRECTORY));
    }

    private static boolean barrier(Database hub, long number) {
        return epochs(hub).barrier(Epoch.DIRECTORY, number);
    }

    private CompletableFuture<Boolean> waiting(Database hub, long number) {
        return CompletableFuture.supplyAsync(() -> barrier(hub, number), callers);
    }

    private static boolean ended(Database hub, String name) {
        return hub.<Long>read(session ->
                        session.number("SELECT count(*) FROM hub WHERE name = ? AND ended_at IS NOT NULL", name))
                > 0;
    }

    /** A copy of the number of changes, as another module has one of its rows. */
    private static AtomicLong copy(Database hub) {
        var copy = new AtomicLong();
        epochs(hub)
                .keep(
                        Epoch.DIRECTORY,
                        () -> copy.set(hub.read(session -> session.number("SELECT n FROM epoch WHERE kind = 0"))));
        return copy;
    }

    @Test
    void aChangeIsInTheCopyOfTheOtherHubWhenTheBarrierAnswers() {
        Database one = hub();
        Database other = hub();
        AtomicLong copy = copy(other);

        for (int i = 1; i <= 50; i++) {
            assertThat(barrier(one, bump(one))).isTrue();
            assertThat(copy).hasValue(i);
        }
    }

    @Test
    void hintsAreFasterThanTheBeat() {
        Database one = hub();
        copy(hub());
        barrier(one, bump(one));

        long began = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            barrier(one, bump(one));
        }

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10)); // 20 s by beats
    }

    @Test
    void aChangeIsSeenWithinTheBeatIfHintsAreLost() {
        var lost = new AtomicInteger();
        Database one = added(schema.shared(sql -> {
            if (sql.contains("pg_notify")) {
                lost.incrementAndGet();
                throw new IllegalStateException("no hints");
            }
        }));
        AtomicLong copy = copy(hub());

        assertThat(barrier(one, bump(one))).isTrue();

        assertThat(copy).hasValue(1);
        assertThat(lost).hasPositiveValue();
    }

    @Test
    void hintsAreHeardAgainAfterTheConnectionWasCut() {
        Database one = hub();
        AtomicLong copy = copy(hub());
        assertThat(barrier(one, bump(one))).isTrue();

        for (int i = 2; i <= 4; i++) {
            schema.cut("LISTEN");
            schema.cut("UPDATE hub SET beat_at");
            assertThat(barrier(one, bump(one))).isTrue();
            assertThat(copy).hasValue(i);
        }
        assertThat(hubs).allSatisfy(hub -> assertThat(hub.access().ending()).isEmpty());
    }

    @Test
    void theBarrierWaitsForAHubWhoseBeatHangs() throws Exception {
        Database one = hub();
        Database other = hub();
        AtomicLong copy = copy(other);
        CompletableFuture<Boolean> passed;
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute(
                    "SELECT 1 FROM hub WHERE hub_no = " + other.access().hub() + " FOR UPDATE");
            passed = waiting(one, bump(one));
            Eventually.holds(
                    "the other hub is uncertain",
                    () -> other.access().obstacle().isPresent());
            assertThat(passed).isNotDone();
            holder.rollback();
        }

        assertThat(passed.get(20, TimeUnit.SECONDS)).isTrue();
        assertThat(copy).hasValue(1);
    }

    @Test
    void aDeadHubIsEndedAndThenNotWaitedFor() {
        Database one = hub();
        schema.run("INSERT INTO hub (name, level) VALUES ('dead', 9)");
        schema.run("INSERT INTO stream (hub_no, audit_hash) SELECT max(hub_no), '' FROM hub");

        assertThat(barrier(one, bump(one))).as("within the longest time").isTrue();

        assertThat(ended(one, "dead")).isTrue();
    }

    @Test
    void aHubThatCannotReadItsCopyAgainAnswersNothingWhenTheBarrierEnds() throws SQLException {
        Database one = hub();
        Database other = hub();
        var isBroken = new AtomicBoolean(true);
        var reads = new AtomicInteger();
        epochs(other).keep(Epoch.DIRECTORY, () -> {
            reads.incrementAndGet();
            if (isBroken.get()) {
                throw new IllegalStateException("cannot be read");
            }
        });

        long number = bump(one);
        assertThat(barrier(one, number)).isFalse();

        assertThat(other.access().obstacle()).isPresent();
        assertThat(one.access().obstacle()).isEmpty();
        long rows = other.read(session -> session.number("SELECT count(*) FROM epoch WHERE kind = 0"));
        assertThat(rows).isOne(); // as a copy does
        isBroken.set(false);
        Eventually.holds("the copy is read", () -> other.access().obstacle().isEmpty());
        assertThat(barrier(one, number)).isTrue();
        assertThat(reads).hasValueGreaterThan(5);
    }

    @Test
    void hubsThatWaitForTheirTurnAreNotWaitedFor() {
        Database one = hub();
        schema.run("INSERT INTO hub (name, level) VALUES ('waits', 9)");

        assertThat(barrier(one, bump(one))).isTrue();

        assertThat(ended(one, "waits")).as("one that is waited for is ended").isFalse();
    }

    @Test
    void copiesAreReadAgainByANewConnectionOfTheLease() {
        Database one = hub();
        var reads = new AtomicInteger();
        epochs(one).keep(Epoch.DIRECTORY, reads::incrementAndGet);
        epochs(one).applied(Epoch.DIRECTORY, bump(one));
        int before = reads.get();

        schema.cut("UPDATE hub SET beat_at");
        schema.cut("LISTEN");

        Eventually.holds("the copy was read again", () -> reads.get() > before);
    }

    @Test
    void aHubWithItsOwnDatabaseCountsNothing(@TempDir Path directory) {
        try (Database alone = Database.open(directory)) {
            epochs(alone).keep(Epoch.DIRECTORY, () -> {
                throw new AssertionError("no other hub");
            });

            assertThat(bump(alone)).isZero();
            assertThat(barrier(alone, 1)).isTrue();
        }
    }

    @Test
    void concurrentChangesOfAllHubsAreInAllCopies() throws Exception {
        List<Database> all = List.of(hub(), hub(), hub());
        List<AtomicLong> copies = all.stream().map(EpochsTest::copy).toList();
        var barriers = new ArrayList<CompletableFuture<Void>>();
        for (int i = 0; i < 60; i++) {
            Database hub = all.get(i % all.size());
            barriers.add(CompletableFuture.runAsync(
                    () -> {
                        long number = bump(hub);
                        assertThat(barrier(hub, number)).isTrue();
                        for (int each = 0; each < all.size(); each++) {
                            if (all.get(each) != hub) {
                                assertThat(copies.get(each)).hasValueGreaterThanOrEqualTo(number);
                            }
                        }
                    },
                    callers));
        }

        CompletableFuture.allOf(barriers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
    }

    @Test
    void aHubThatClosesWhileItReadsACopyDoesNotWarn() throws Exception {
        Database one = hub();
        Database other = hub();
        var begun = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        epochs(other).keep(Epoch.DIRECTORY, () -> {
            begun.countDown();
            try {
                assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            long unused = other.read(session -> session.number("SELECT n FROM epoch WHERE kind = 0"));
        });
        var levels = new ConcurrentLinkedQueue<Level>();
        Logger log = Logger.getLogger("dev.parley.store");
        var handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                if (entry.getMessage().startsWith("changes by another hub")) {
                    levels.add(entry.getLevel());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Level before = log.getLevel();
        log.setLevel(Level.FINE);
        log.addHandler(handler);
        try {
            bump(one);
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
            other.close();
            closed.countDown();

            Eventually.holds("the failure is reported", () -> !levels.isEmpty());

            assertThat(levels).containsOnly(Level.FINE);
        } finally {
            log.removeHandler(handler);
            log.setLevel(before);
        }
    }
}
