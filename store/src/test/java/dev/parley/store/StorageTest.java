package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.Space;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import dev.parley.store.database.Place;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Quotas;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes that groups keep, and their quotas. */
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class StorageTest {
    private static final Scope ALICE = new Scope("shop", "alice");
    private static final Scope BOB = new Scope("bank", "bob");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-01T12:00:00Z"));

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path data;

    private Place place;
    private Store store;

    @BeforeEach
    void open() {
        place = new Place(kind, data);
        store = place.store(clock);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private TaskKey task(Scope scope) {
        return new TaskKey(scope, "agent", Ids.next(clock.instant()));
    }

    private TaskKey ended(Scope scope) {
        TaskKey key = task(scope);
        Segments.write(store.log(), key, 1, TaskState.COMPLETED, clock.instant());
        return key;
    }

    private TaskKey ofSegments(Scope scope, int segments, TaskState last) {
        TaskKey key = task(scope);
        for (int i = 1; i <= segments; i++) {
            Segments.write(store.log(), key, i, i == segments ? last : TaskState.WORKING, clock.instant());
        }
        return key;
    }

    private long used(String group) {
        return Optional.ofNullable(store.database().storage().usage().get(group))
                .map(Storage.Usage::sum)
                .orElse(0L);
    }

    /** The bytes of a group as its rows have them. */
    private long counted(String group) {
        return store.database()
                .read(session -> session.number(
                        "SELECT coalesce(sum(200 + coalesce(length(events), 0)), 0)"
                                + " + (SELECT coalesce(sum(200 + length(events)), 0) FROM segment WHERE task_id IN (SELECT task_id FROM task"
                                + " JOIN lane ON lane.lane_no = task.lane_no WHERE group_id = ?1))"
                                + " FROM task JOIN lane ON lane.lane_no = task.lane_no WHERE group_id = ?1",
                        group));
    }

    @Test
    void theBytesOfAGroupAreThoseOfItsTasksAlsoAfterARestart() {
        ended(ALICE);
        ofSegments(ALICE, 3, TaskState.COMPLETED);
        ofSegments(ALICE, 2, TaskState.INPUT_REQUIRED);
        ended(BOB);

        long shop = used("shop");
        assertThat(shop).isPositive().isEqualTo(counted("shop"));
        assertThat(used("bank")).isPositive().isEqualTo(counted("bank")).isLessThan(shop);

        store.close();
        store = place.store(clock);
        assertThat(used("shop")).isEqualTo(shop);
        ended(ALICE);
        assertThat(used("shop")).isEqualTo(counted("shop")).isGreaterThan(shop);
    }

    @Test
    void whatIsRemovedOrErasedCountsNoMore() {
        ended(ALICE);
        ofSegments(ALICE, 40, TaskState.COMPLETED);
        clock.advance(Duration.ofHours(1));
        TaskKey open = ofSegments(ALICE, 20, TaskState.WORKING);
        ended(BOB);
        long bank = used("bank");

        store.log().removeEnded(clock.instant().minusSeconds(1), 100);
        assertThat(used("shop")).isEqualTo(counted("shop")).isPositive();

        store.log().erase(List.of(open));
        assertThat(used("shop")).isZero();
        assertThat(counted("shop")).isZero();
        assertThat(used("bank")).isEqualTo(bank);

        store.close();
        store = place.store(clock);
        assertThat(used("shop")).isZero();
    }

    @Test
    void aWorkThatFailsCountsNothing() {
        ended(ALICE);
        long before = used("shop");

        assertThatThrownBy(() -> store.database().write("shop", session -> {
                    store.database().storage().add("shop", Kind.TASKS, 1_000_000);
                    throw new SQLException("no such row", "23505");
                }))
                .isInstanceOf(StoreException.class);
        store.database().write("shop", session -> {
            store.database().storage().add("shop", Kind.TASKS, 500);
            return session;
        });

        assertThat(used("shop")).isEqualTo(before + 500);
    }

    @Test
    void whatDoesNotFitIsRefusedAndReservesNothing() {
        Storage storage = store.database().storage();
        storage.limit(Quotas.of(List.of("1KB", "bank=0", "large=1GB")));
        Space shop = storage.space("shop");

        shop.take(1_000);
        assertThatThrownBy(() -> shop.take(100)).isInstanceOfSatisfying(A2AException.class, full -> {
            assertThat(full.error()).isEqualTo(A2AError.QUOTA_EXCEEDED);
            assertThat(full)
                    .hasMessageStartingWith(
                            "The data of group \"shop\" take 1000 of 1024 bytes, and 100 more do not fit (expected: ");
            assertThat(full.metadata()).containsEntry("usedBytes", "1000").containsEntry("limitBytes", "1024");
        });
        shop.take(24);
        shop.giveBack(1_024);
        shop.take(1_024);

        assertThat(storage.space("bank").isLimited()).isFalse();
        storage.space("large").take(1 << 20);
        assertThat(storage.usage().get("large")).isEqualTo(new Storage.Usage(Map.of(), 1L << 30));
    }

    @Test
    void aWriteThatDoesNotFitIsRefusedWithNoOtherAndRecordsAsideDoNotCount() {
        Storage storage = store.database().storage();
        storage.limit(Quotas.of(List.of("shop=1KB")));
        storage.space("shop").force(300);
        store.database().admit("shop", session -> {
            storage.require("shop", 500);
            storage.add("shop", Kind.DEFINITIONS, 500);
            storage.add("shop", Kind.CHANGES, 5_000);
            return session;
        });

        assertThatThrownBy(() -> store.database().admit("shop", session -> {
                    storage.require("shop", 225);
                    throw new IllegalStateException("it fits");
                }))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        full -> assertThat(full)
                                .hasMessageStartingWith(
                                        "The data of group \"shop\" take 800 of 1024 bytes, and 225 more"));
        store.database().write("shop", session -> {
            storage.add("shop", Kind.DEFINITIONS, -1);
            storage.require("shop", 225);
            return session;
        });
        assertThat(used("shop")).isEqualTo(499);
        assertThat(storage.isOver("shop", Kind.CHANGES)).isTrue();
        assertThat(storage.isOver("shop", Kind.DELETED)).isFalse();
        assertThat(storage.isOver("bank", Kind.CHANGES)).isFalse();

        store.close();
        store = place.store(clock);
        assertThat(used("shop")).isEqualTo(499);
    }

    @Test
    void manyThreadsTogetherTakeNoMoreThanFits() throws InterruptedException {
        Storage storage = store.database().storage();
        storage.limit(Quotas.of(List.of("100B")));
        var taken = new ConcurrentLinkedQueue<Integer>();
        var begin = new CountDownLatch(1);
        List<Thread> threads = IntStream.range(0, 50)
                .mapToObj(i -> Thread.startVirtualThread(() -> {
                    try {
                        begin.await();
                        storage.space("shop").take(7);
                        taken.add(i);
                    } catch (A2AException | InterruptedException full) {
                        // counted by what is taken
                    }
                }))
                .toList();

        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(taken).hasSizeLessThanOrEqualTo(14);
        assertThatThrownBy(() -> storage.space("shop").take(100)).isInstanceOf(A2AException.class);
    }
}
