package dev.parley.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.Place;
import dev.parley.store.database.Work;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.testkit.SettableClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Retention and erasure. */
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class RemovalTest {
    private static final Scope ALICE = new Scope("shop", "alice-xqz");
    private static final Scope BOB = new Scope("shop", "bob");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-01T12:00:00Z"));

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path data;

    private Store store;

    private Place place;

    @BeforeEach
    void begin() {
        place = new Place(kind, data);
        open();
    }

    private void open() {
        store = place.store(clock);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private TaskKey task(Scope scope) {
        return new TaskKey(scope, "agent", Ids.next(clock.instant()));
    }

    private void write(TaskKey key, MessageKey... messages) {
        Segments.write(store.log(), key, 1, TaskState.COMPLETED, clock.instant(), messages);
    }

    private long count(String sql) {
        return store.database().read(session -> {
            try (ResultSet row = session.bind(sql).executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    private String onDisk() throws IOException {
        var all = new StringBuilder();
        try (Stream<Path> files = Files.list(data)) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    @Test
    void anErasureReachesWhatTasksThatAreGoneLeftBehind() throws IOException {
        TaskKey ended = task(ALICE);
        write(ended, new MessageKey(ALICE, "agent", "message-of-alice"));
        write(task(BOB));
        clock.advance(Duration.ofHours(1));
        store.log().removeEnded(clock.instant(), 100);
        // A webhook of a message that led to no task.
        store.webhooks()
                .save(
                        Subscription.of(
                                new TaskKey(ALICE, "ping", Ids.next(clock.instant())),
                                new PushConfig(null, "hook", null, "https://alice.example/hook", "token-of-hers", null),
                                "1.0",
                                null,
                                0),
                        new Cause("alice-xqz", "192.0.2.1", null, CallChain.NONE));

        store.log().forget("shop", "alice-xqz");
        store.audit().forget("shop", "alice-xqz");

        assertThat(store.database().awaitErased(Duration.ofSeconds(60))).isTrue();
        assertThat(onDisk()).doesNotContain("alice-xqz", "message-of-alice", "alice.example", "token-of-hers");
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void whatIsErasedJustBeforeTheCloseIsInNoFile() throws IOException {
        write(task(ALICE), new MessageKey(ALICE, "agent", "message-of-alice"));
        clock.advance(Duration.ofHours(1));
        store.log().removeEnded(clock.instant(), 100);
        store.log().forget("shop", "alice-xqz");
        store.audit().forget("shop", "alice-xqz");

        store.close();

        assertThat(onDisk()).doesNotContain("alice-xqz", "message-of-alice");
    }

    /** Counts the groups that the writer has committed. */
    private AtomicInteger groups() {
        var groups = new AtomicInteger();
        store.database().listen(new GroupListener() {
            @Override
            public void committed(int works) {
                groups.incrementAndGet();
            }
        });
        return groups;
    }

    private List<TaskKey> tasks(Scope scope, int number) {
        var keys = new ArrayList<TaskKey>();
        var written = new ArrayList<CompletableFuture<?>>();
        for (int i = 0; i < number; i++) {
            TaskKey key = task(scope);
            keys.add(key);
            written.add(Segments.submit(
                    store.log(),
                    key,
                    1,
                    TaskState.COMPLETED,
                    clock.instant(),
                    new MessageKey(scope, "agent", "message-" + i)));
        }
        CompletableFuture.allOf(written.toArray(CompletableFuture[]::new)).join();
        return keys;
    }

    @Test
    void anErasureOfManyTasksDoesNotKeepTheWriterFromOthers() {
        List<TaskKey> hers = tasks(ALICE, 1_000);
        List<TaskKey> others = tasks(BOB, 10);
        AtomicInteger groups = groups();
        CompletableFuture<Integer> between = groupsBeforeAWriteThatBeginsDuringTheNext(groups);

        store.log().erase(hers);
        int erasing = groups.getAndSet(0);
        assertThat(between.join()).isLessThan(erasing / 2); // written between those of the erasure, not after them
        store.log().forget("shop", "alice-xqz");
        int changed = store.audit().forget("shop", "alice-xqz");

        assertThat(erasing).isGreaterThanOrEqualTo(1_000 / 100 + 1_000 / 200);
        assertThat(groups.get()).isGreaterThanOrEqualTo(1_000 / 200);
        assertThat(changed).isEqualTo(1_000);
        assertThat(count("SELECT count(*) FROM task")).isEqualTo(others.size());
        assertThat(count("SELECT count(*) FROM message")).isEqualTo(others.size());
        assertThat(count("SELECT count(*) FROM lane WHERE owner = 'alice-xqz'")).isZero();
        assertThat(store.audit().verify().broken()).isNull();
    }

    /** Submits a write of another group during the next group; returns how many groups there were before its own. */
    private CompletableFuture<Integer> groupsBeforeAWriteThatBeginsDuringTheNext(AtomicInteger groups) {
        var before = new CompletableFuture<Integer>();
        var between = new Work() {
            @Override
            public void write(DatabaseSession session) throws SQLException {
                session.update("UPDATE module_version SET version = version");
                before.complete(groups.get());
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {
                before.completeExceptionally(cause);
            }

            @Override
            public String group() {
                return "bakery";
            }
        };
        var begun = new AtomicBoolean();
        store.database().listen(new GroupListener() {
            @Override
            public void beforeCommit(DatabaseSession session) {
                if (begun.compareAndSet(false, true)) {
                    store.database().submit(between);
                }
            }

            @Override
            public void rolledBack() {}
        });
        return before;
    }

    @Test
    void retentionForgetsTheManyMessagesOfAnEmptyLaneInSmallTransactions() {
        tasks(ALICE, 1_000);
        clock.advance(Duration.ofHours(1));
        AtomicInteger groups = groups();

        assertThat(store.log().removeEnded(clock.instant(), 2_000)).isEqualTo(1_000);

        assertThat(groups.get()).isGreaterThanOrEqualTo(1_000 / 100 + 1_000 / 200);
        assertThat(count("SELECT count(*) FROM message")).isZero();
        assertThat(count("SELECT count(*) FROM lane WHERE owner = 'alice-xqz'")).isZero();
    }

    @Test
    void aTaskThatTakesSeveralTransactionsToRemoveIsRemoved() {
        TaskKey expired = task(ALICE);
        TaskKey erased = task(BOB);
        for (TaskKey key : List.of(expired, erased)) {
            var written = new ArrayList<CompletableFuture<?>>();
            for (int sequence = 1; sequence <= 4_000; sequence++) {
                TaskState state = sequence == 4_000 ? TaskState.COMPLETED : TaskState.WORKING;
                written.add(Segments.submit(store.log(), key, sequence, state, clock.instant()));
            }
            CompletableFuture.allOf(written.toArray(CompletableFuture[]::new)).join();
        }

        store.log().erase(List.of(erased));
        clock.advance(Duration.ofHours(1));
        store.log().removeEnded(clock.instant(), 100);

        assertThat(count("SELECT count(*) FROM segment")).isZero();
        assertThat(count("SELECT count(*) FROM task")).isZero();
        assertThat(count("SELECT sum(tasks) FROM tally")).isZero();
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void aLaneGoesWithItsLastTaskAndItsNumberIsNotGivenAgain() {
        write(task(ALICE), new MessageKey(ALICE, "agent", "m-1"));
        write(task(BOB), new MessageKey(BOB, "agent", "m-1"));
        long newest = count("SELECT max(lane_no) FROM lane");
        clock.advance(Duration.ofHours(1));

        assertThat(store.log().removeEnded(clock.instant(), 100)).isEqualTo(2);

        assertThat(count("SELECT count(*) FROM lane")).isEqualTo(1);
        assertThat(count("SELECT count(*) FROM lane WHERE owner IN ('alice-xqz', 'bob')"))
                .isZero();
        assertThat(count("SELECT (SELECT count(*) FROM tally) + (SELECT count(*) FROM message)"))
                .isZero();
        write(task(ALICE));
        assertThat(count("SELECT lane_no FROM lane WHERE owner = 'alice-xqz'")).isGreaterThan(newest);
    }

    @Test
    void aLaneWithAWebhookButNoTaskYetStays() {
        TaskKey begun = task(ALICE);
        write(task(ALICE));
        store.webhooks()
                .save(
                        Subscription.of(
                                begun,
                                new PushConfig(null, "hook", null, "https://a.example", null, null),
                                "1.0",
                                null,
                                0),
                        new Cause("alice-xqz", "192.0.2.1", null, CallChain.NONE));
        clock.advance(Duration.ofHours(1));

        store.log().removeEnded(clock.instant(), 100);

        assertThat(store.webhooks().of(begun)).hasSize(1);
        write(begun);
        assertThat(store.webhooks().pending()).hasSize(1);
    }

    @Test
    void tasksAreRemovedInGroupsBetweenThoseOfOthers() {
        var written = IntStream.range(0, 500)
                .mapToObj(each -> Segments.submit(store.log(), task(ALICE), 1, TaskState.COMPLETED, clock.instant()))
                .toList();
        written.forEach(each -> each.join());
        clock.advance(Duration.ofHours(1));
        AtomicInteger groups = groups();
        groups.set(0);

        assertThat(store.log().removeEnded(clock.instant(), 1_000)).isEqualTo(500);

        assertThat(groups.get()).isGreaterThanOrEqualTo(5);
        assertThat(count("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM segment)"))
                .isZero();
    }

    @Test
    void aTaskOfManySegmentsIsRemovedWholeAndCountedOnce() {
        TaskKey large = task(ALICE);
        TaskKey kept = task(ALICE);
        var written = new ArrayList<CompletableFuture<?>>();
        for (int sequence = 1; sequence <= 1_000; sequence++) {
            TaskState state = sequence < 1_000 ? TaskState.WORKING : TaskState.COMPLETED;
            written.add(Segments.submit(store.log(), large, sequence, state, clock.instant()));
        }
        written.forEach(each -> each.join());
        Segments.write(store.log(), kept, 1, TaskState.WORKING, clock.instant());
        clock.advance(Duration.ofHours(1));

        assertThat(store.log().removeEnded(clock.instant(), 100)).isEqualTo(1);

        assertThat(count("SELECT count(*) FROM segment")).isEqualTo(1);
        assertThat(total()).isEqualTo(1);
    }

    @Test
    void manyTasksOfFewAndOfManySegmentsAreRemovedWithAllThatBelongsToThem() {
        var tasks = new ArrayList<TaskKey>();
        for (int i = 0; i < 60; i++) {
            TaskKey key = task(i % 2 == 0 ? ALICE : BOB);
            int segments = i == 20 ? 30 : 1 + i % 8;
            for (int sequence = 1; sequence <= segments; sequence++) {
                TaskState state = sequence < segments ? TaskState.WORKING : TaskState.COMPLETED;
                Segments.write(store.log(), key, sequence, state, clock.instant());
            }
            tasks.add(key);
        }
        hook(tasks.get(3));
        clock.advance(Duration.ofDays(2));
        Segments.write(store.log(), task(BOB), 1, TaskState.WORKING, clock.instant());

        assertThat(store.log().removeEnded(clock.instant().minusSeconds(1), 100))
                .isEqualTo(60);

        assertThat(count("SELECT count(*) FROM task")).isEqualTo(1);
        assertThat(count("SELECT count(*) FROM segment")).isEqualTo(1);
        assertThat(count("SELECT count(*) FROM webhook")).isZero();
        assertThat(count("SELECT coalesce(sum(tasks), 0) FROM tally")).isEqualTo(1);
        assertThat(store.audit().verify().broken()).isNull();
    }

    @Test
    void aTaskThatIsHalfRemovedGoesWithThoseBeforeAndAfterIt() {
        var tasks = IntStream.range(0, 5).mapToObj(each -> task(ALICE)).toList();
        tasks.forEach(this::write);
        hideAsHalfRemoved(tasks.get(2));
        clock.advance(Duration.ofHours(1));

        assertThat(store.log().removeEnded(clock.instant(), 100)).isEqualTo(5);

        assertThat(count("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM segment)"))
                .isZero();
        assertThat(count("SELECT coalesce(sum(tasks), 0) FROM tally")).isZero();
    }

    private void hideAsHalfRemoved(TaskKey key) {
        store.database().write(session -> {
            session.update(
                    "UPDATE tally SET tasks = tasks - 1 WHERE lane_no = (SELECT lane_no FROM task WHERE task_id = ?)"
                            + " AND state = (SELECT state FROM task WHERE task_id = ?)",
                    key.taskId(),
                    key.taskId());
            return session.update("UPDATE task SET lane_no = 0 WHERE task_id = ?", key.taskId());
        });
    }

    private void hook(TaskKey key) {
        store.webhooks()
                .save(
                        Subscription.of(
                                key,
                                new PushConfig(null, "hook", null, "https://alice.example/hook", "token-of-hers", null),
                                "1.0",
                                null,
                                0),
                        new Cause(key.scope().owner(), "192.0.2.1", null, CallChain.NONE));
    }

    @Test
    void aRemovalThatACrashCutShortIsFinishedByTheNext() {
        TaskKey half = task(ALICE);
        write(half);
        store.database().write(session -> {
            session.update("UPDATE task SET lane_no = 0");
            return session.update("UPDATE tally SET tasks = 0");
        });
        clock.advance(Duration.ofHours(1));
        assertThat(store.log().find(half)).isEmpty();
        assertThat(store.log().unfinished()).isEmpty();

        assertThat(store.log().removeEnded(clock.instant(), 100)).isEqualTo(1);

        assertThat(count("SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM segment)"))
                .isZero();
        assertThat(total()).isZero();
    }

    private int total() {
        return store.log()
                .list(new Query(ALICE.group(), ALICE.owner(), "agent", null, null, null, null, 10))
                .total();
    }

    @Test
    void messageIdsOfPastDaysGoAFewWithEachGroup() {
        MessageKey[] many = IntStream.range(0, 1_000)
                .mapToObj(each -> new MessageKey(ALICE, "agent", "m-" + each))
                .toArray(MessageKey[]::new);
        write(task(ALICE), many);
        store.close();
        clock.advance(Duration.ofDays(3)); // while the hub is off: a jump while it runs is not trusted at once
        open();

        write(task(ALICE));
        if (kind == DatabaseKind.SQLITE) {
            assertThat(count("SELECT count(*) FROM message")).isBetween(1L, 999L);
        }

        for (int group = 0; group < 5; group++) {
            write(task(ALICE));
        }
        assertThat(count("SELECT count(*) FROM message")).isZero();
    }

    @Test
    void tasksOfOtherIdsAreRemovedToo() {
        for (String id : List.of("task-1", "zzz")) {
            write(new TaskKey(ALICE, "agent", id));
        }
        clock.advance(Duration.ofHours(1));

        assertThat(store.log().removeEnded(clock.instant(), 100)).isEqualTo(2);
    }
}
