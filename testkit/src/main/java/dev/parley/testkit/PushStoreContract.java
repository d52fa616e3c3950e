package dev.parley.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.MemoryPushStore;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Contract test of {@link PushStore}. A subclass opens the store. */
public abstract class PushStoreContract {
    private static final Cause CAUSE = new Cause("alice", "192.0.2.1", null, CallChain.NONE);

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final TaskKey TASK = new TaskKey(new Scope("t1", "alice"), "agent", "task-1");

    /** A store of webhooks, and the log of the tasks that they belong to. */
    public record Stores(TaskLog log, PushStore webhooks) {}

    private final SettableClock clock = new SettableClock(START);
    private Stores stores = new Stores(new MemoryTaskLog(), new MemoryPushStore());

    /** Opens empty stores. */
    protected abstract Stores open(InstantSource clock) throws Exception;

    @BeforeEach
    final void openStores() throws Exception {
        stores = open(clock);
        write(TASK);
    }

    @AfterEach
    final void closeStores() {
        stores.log().close();
    }

    @Test
    void aWebhookIsFoundAsItWasSaved() {
        var config = new PushConfig(
                null,
                "hook",
                "task-1",
                "https://example.com/hook",
                "token-1",
                new PushConfig.Authentication("Bearer", "secret-1"));
        Subscription saved = new Subscription(
                TASK, config, "0.1", "mine", 2, 3, START.plusSeconds(9), null, "status 503", "channel", 42);

        store().save(saved, CAUSE);

        assertThat(store().find(TASK, "hook")).contains(saved);
        assertThat(store().of(TASK)).containsExactly(saved);
        assertThat(store().find(TASK, "other")).isEmpty();
    }

    @Test
    void theDialectIsKeptAndSoIsThatThereIsNoName() {
        for (String dialect : List.of("1.0", "0.3", "0.1", "kernel", "agentvault")) {
            Subscription saved = Subscription.of(TASK, config(dialect), dialect, null, 0);

            store().save(saved, CAUSE);

            assertThat(store().find(TASK, dialect)).contains(saved);
        }
    }

    @Test
    void webhooksOfATaskAreInTheOrderInWhichTheyWereMade() {
        for (String id : List.of("c", "a", "d", "b")) {
            store().save(subscription(TASK, id), CAUSE); // all in the same moment
        }
        clock.advance(Duration.ofSeconds(-1));
        store().save(subscription(TASK, "e"), CAUSE);

        assertThat(ids(store().of(TASK))).containsExactly("c", "a", "d", "b", "e");
    }

    @Test
    void aWebhookThatIsSavedAgainIsReplacedInItsPlace() {
        store().save(subscription(TASK, "a"), CAUSE);
        store().save(subscription(TASK, "b"), CAUSE);
        clock.advance(Duration.ofSeconds(1));
        Subscription another = Subscription.of(TASK, config("a"), "0.3", "mine", 7);

        store().save(another, CAUSE);

        assertThat(ids(store().of(TASK))).containsExactly("a", "b");
        assertThat(store().find(TASK, "a")).contains(another);
    }

    @Test
    void anAdvanceIsRecordedAndLeavesTheRestAsItWas() {
        Subscription saved = Subscription.of(TASK, config("hook"), "kernel", "mine", 0);
        store().save(saved, CAUSE);

        assertThat(store().advance(saved.failed(1, START.plusSeconds(2), null, "status 500")))
                .isEqualTo(Recorded.DONE);
        assertThat(store().find(TASK, "hook")).contains(saved.failed(1, START.plusSeconds(2), null, "status 500"));

        store().advance(saved.delivered(5));
        assertThat(store().find(TASK, "hook")).contains(saved.delivered(5));
    }

    @Test
    void anAdvanceAfterADeleteDoesNothing() {
        Subscription saved = subscription(TASK, "hook");
        store().save(saved, CAUSE);

        assertThat(store().delete(TASK, "hook", CAUSE)).isTrue();
        assertThat(store().advance(saved.delivered(5))).isEqualTo(Recorded.REFUSED);

        assertThat(store().find(TASK, "hook")).isEmpty();
        assertThat(store().of(TASK)).isEmpty();
        assertThat(store().delete(TASK, "hook", CAUSE)).isFalse();
    }

    @Test
    void anAdvanceOfAWebhookThatWasRegisteredAnewDoesNothing() {
        Subscription old = subscription(TASK, "hook");
        store().save(old, CAUSE);
        Subscription replaced = subscription(TASK, "hook");
        store().save(replaced, CAUSE);

        assertThat(store().advance(old.failed(1, null, START, "status 410"))).isEqualTo(Recorded.REFUSED);
        assertThat(store().find(TASK, "hook")).contains(replaced);

        store().delete(TASK, "hook", CAUSE);
        Subscription madeAgain = subscription(TASK, "hook");
        store().save(madeAgain, CAUSE);

        assertThat(store().advance(replaced.delivered(9))).isEqualTo(Recorded.REFUSED);
        assertThat(store().find(TASK, "hook")).contains(madeAgain);
    }

    @Test
    void aWebhookThatComesWithAMessageIsSavedWithItsSegment() {
        TaskKey task = new TaskKey(TASK.scope(), "agent", "task-3");
        Subscription brought = subscription(task, "hook");

        SegmentWriter.submit(
                        stores.log(), SegmentWriter.segment(task, 1, List.of(created(task)), clock.instant(), brought))
                .join();

        assertThat(store().of(task)).containsExactly(brought);
    }

    @Test
    void whatBelongsToAnotherScopeOrAgentDoesNotExist() {
        store().save(subscription(TASK, "hook"), CAUSE);

        for (TaskKey other : List.of(
                new TaskKey(new Scope("t2", "mallory"), "agent", "task-1"),
                new TaskKey(new Scope("t1", "mallory"), "agent", "task-1"),
                new TaskKey(TASK.scope(), "other", "task-1"))) {
            assertThat(store().find(other, "hook")).isEmpty();
            assertThat(store().of(other)).isEmpty();
            assertThat(store().delete(other, "hook", CAUSE)).isFalse();
        }
        assertThat(store().find(TASK, "hook")).isPresent();
    }

    @Test
    void theDeadAreListedNewestFirst() {
        for (int i = 0; i < 4; i++) {
            Subscription saved = subscription(TASK, "hook-" + i);
            store().save(saved, CAUSE);
            store().advance(saved.failed(12, null, START.plusSeconds(i), "status 410"));
        }
        store().save(subscription(TASK, "alive"), CAUSE);

        assertThat(ids(store().dead(3))).containsExactly("hook-3", "hook-2", "hook-1");
        assertThat(ids(store().dead(Integer.MAX_VALUE))).hasSize(4).doesNotContain("alive");
    }

    @Test
    void whatHasMoreToTellIsPendingUnlessItWasGivenUp() {
        TaskKey another = new TaskKey(TASK.scope(), "agent", "task-2");
        write(another);
        Subscription dead = subscription(TASK, "dead");
        store().save(subscription(TASK, "new"), CAUSE);
        store().save(subscription(another, "waiting").failed(1, START.plusSeconds(60), null, "status 503"), CAUSE);
        store().save(dead, CAUSE);
        store().advance(dead.failed(1, null, START, "status 410"));

        assertThat(ids(store().pending())).containsExactlyInAnyOrder("new", "waiting");

        store().advance(dead.delivered(0));
        assertThat(ids(store().pending())).containsExactlyInAnyOrder("new", "waiting", "dead");
    }

    @Test
    void pendingWebhooksOfAChannelAreFound() {
        TaskKey another = new TaskKey(TASK.scope(), "another", "task-2");
        write(another);
        Subscription dead = subscription(another, "dead").in("channel");
        store().save(subscription(TASK, "first").in("channel"), CAUSE);
        store().save(subscription(TASK, "other").in("other"), CAUSE);
        store().save(subscription(TASK, "none"), CAUSE);
        store().save(subscription(another, "second").in("channel"), CAUSE);
        store().save(dead, CAUSE);
        store().advance(dead.failed(1, null, START, "status 410"));

        assertThat(ids(store().pending("channel"))).containsExactlyInAnyOrder("first", "second");
        assertThat(store().find(TASK, "first").orElseThrow().channel()).isEqualTo("channel");
    }

    @Test
    void aTaskIsKeptWhileAWebhookHasNotHeardOfItsEnd() {
        Subscription untold = subscription(TASK, "hook");
        end(TASK);
        store().save(untold, CAUSE);

        clock.advance(Duration.ofHours(2));
        assertThat(removeEnded()).isZero();
        store().advance(untold.failed(12, null, clock.instant(), "status 410"));
        assertThat(removeEnded()).isZero();
        assertThat(store().dead(9)).hasSize(1);

        clock.advance(Duration.ofHours(2));
        assertThat(removeEnded()).isEqualTo(1);
        assertThat(store().dead(9)).isEmpty();
    }

    @Test
    void aTaskWhoseWebhookHasHeardOfItsEndIsRemoved() {
        Subscription stored = subscription(TASK, "hook");
        end(TASK);
        store().save(stored, CAUSE);
        store().advance(stored.delivered(3));

        clock.advance(Duration.ofHours(2));

        assertThat(removeEnded()).isEqualTo(1);
    }

    @Test
    void aWebhookThatHearsNothingKeepsItsTaskForADayAtMost() {
        end(TASK);
        store().save(subscription(TASK, "hook"), CAUSE);

        clock.advance(Duration.ofHours(26));

        assertThat(removeEnded()).isEqualTo(1);
        assertThat(store().of(TASK)).isEmpty();
    }

    private int removeEnded() {
        return stores.log().removeEnded(clock.instant().minus(Duration.ofHours(1)), 9);
    }

    // ---- Data of the tests

    private PushStore store() {
        return stores.webhooks();
    }

    private void write(TaskKey key) {
        var working = TaskStatus.of(TaskState.WORKING, clock.instant());
        List<TaskEvent> events =
                List.of(created(key), new TaskStatusUpdateEvent(key.taskId(), "context", working, Map.of()));
        SegmentWriter.submit(stores.log(), SegmentWriter.segment(key, 1, events, clock.instant()))
                .join();
    }

    /** Writes the third event of a task, which ends it. */
    private void end(TaskKey key) {
        var completed = TaskStatus.of(TaskState.COMPLETED, clock.instant());
        List<TaskEvent> events = List.of(new TaskStatusUpdateEvent(key.taskId(), "context", completed, Map.of()));
        SegmentWriter.submit(stores.log(), SegmentWriter.segment(key, 3, events, clock.instant()))
                .join();
    }

    private Task created(TaskKey key) {
        var working = TaskStatus.of(TaskState.WORKING, clock.instant());
        return new Task(key.taskId(), "context", working, List.of(), List.of(), Map.of());
    }

    private static PushConfig config(String id) {
        return new PushConfig(null, id, "task-1", "https://example.com/hook", null, null);
    }

    private static Subscription subscription(TaskKey task, String id) {
        return Subscription.of(task, config(id), "1.0", null, 0);
    }

    private static List<@Nullable String> ids(List<Subscription> subscriptions) {
        return subscriptions.stream().map(one -> one.config().id()).toList();
    }
}
