package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.engine.tasks.Found;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.LiveTasks;
import dev.parley.engine.tasks.TaskListener;
import dev.parley.engine.tasks.TaskReader;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LiveTaskTest {
    private static final CallContext ALICE = CallContext.anonymous();

    /** Loads nothing. */
    private static final LiveTasks TASKS = new LiveTasks(1 << 20, 1 << 20, new LiveTasks.Loader() {
        @Override
        public @Nullable LiveTask load(TaskKey key) {
            return null;
        }

        @Override
        public long newest(TaskKey key) {
            return 0;
        }

        @Override
        public boolean refresh(LiveTask live) {
            return true;
        }

        @Override
        public void follow(TaskKey key) {}
    });

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void aQuestionIsNoAnswerToAMessageThatTheAgentHasNotReadYet() {
        Task asked = task(TaskState.INPUT_REQUIRED);
        var live = new LiveTask(
                new TaskKey(ALICE.scope(), "agent", "task"),
                asked,
                3,
                false,
                parts(new MemoryTaskLog(), new Ignoring()));
        HandlerRun asking = turn(live, "first");
        HandlerRun next = turn(live, "second");

        assertThat(live.runs().enter(asking)).isTrue();
        assertThat(live.runs().isSettled(asked.state())).isTrue();
        assertThat(live.runs().enter(next)).isFalse();
        assertThat(live.runs().isSettled(asked.state())).isFalse();

        // Between two turns nobody shall be told that the agent waits for more.
        assertThat(live.runs().leave()).isSameAs(next);
        assertThat(live.runs().isSettled(asked.state())).isFalse();

        live.runs().reads(next);
        assertThat(live.runs().hasMail()).isFalse();
        assertThat(live.runs().leave()).isNull();
    }

    @Test
    void aFailedFirstSegmentLeavesNothingToWrite() {
        var log = new SteppedLog(new MemoryTaskLog());
        var key = new TaskKey(ALICE.scope(), "agent", "task");
        var lost = new ArrayList<MessageKey>();
        var live = new LiveTask(key, "context", parts(log, new Ignoring() {
            @Override
            public void refused(LiveTask refused, List<MessageKey> messages, List<TaskName> names) {
                lost.addAll(messages);
            }
        }));
        var first = new MessageKey(ALICE.scope(), "agent", "first");
        var second = new MessageKey(ALICE.scope(), "agent", "second");
        live.answersFor(first);
        live.emit(none -> List.of(task(TaskState.WORKING)));
        SteppedLog.Begun begun = log.begin();
        live.answersFor(second);
        live.emit(task -> List.of(Message.user(Part.text("more"))));

        begun.fail(new IllegalStateException("disk full"));

        assertThat(log.waiting()).isEqualTo(1);
        assertThat(live.take()).isNull();
        assertThat(lost).containsExactly(first, second);
        assertThat(live.isBroken()).isTrue();
    }

    @Test
    void aTaskThatWasAnsweredWithAMessageIsNotCreatedAfterIt() {
        var log = new SteppedLog(new MemoryTaskLog());
        var key = new TaskKey(ALICE.scope(), "agent", "task");
        var live = new LiveTask(key, "context", parts(log, new Ignoring()));
        HandlerRun turn = turn(live, "hello");
        turn.message("pong");

        turn.create(TaskState.WORKING); // its sender gave up waiting in the moment of the answer

        assertThat(live.ahead()).isNull();
        assertThat(log.waiting()).isZero();
        assertThatThrownBy(() -> turn.message("again")).isInstanceOf(TaskEndedException.class);
        assertThatThrownBy(() -> turn.working("still")).isInstanceOf(TaskEndedException.class);
        assertThat(log.waiting()).isZero();
    }

    @Test
    void aTaskNeverWaitsForItsCallerOnDiskWhileAMessageWaitsForItsAgent() {
        var disk = new MemoryTaskLog();
        var log = new SteppedLog(disk);
        var key = new TaskKey(ALICE.scope(), "agent", "task");
        var live = new LiveTask(key, "context", parts(log, new Ignoring()));
        HandlerRun asking = turn(live, "first");
        live.runs().enter(asking);
        asking.working("busy");
        live.runs().enter(turn(live, "second"));

        asking.askForInput("what else?");
        log.commit();

        assertThat(disk.unfinished()).extracting(head -> head.key()).containsExactly(key);
        assertThat(disk.read(key, 0, 9))
                .extracting(LoggedEvent::event)
                .filteredOn(TaskStatusUpdateEvent.class::isInstance)
                .extracting(event -> ((TaskStatusUpdateEvent) event).status().state())
                .containsExactly(TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.WORKING);
    }

    private static TaskReader reader(LiveTask live, TaskLog log) {
        return new TaskReader(TASKS.pin(live), log, 0, UnaryOperator.identity());
    }

    @Test
    void whatTheOnlyReaderHasReadIsForgottenAndReadFromTheLogByLaterOnes() throws InterruptedException {
        var disk = new MemoryTaskLog();
        var log = new SteppedLog(disk);
        var live = new LiveTask(new TaskKey(ALICE.scope(), "agent", "task"), "context", parts(log, new Ignoring()));
        turn(live, "first").working("busy");
        log.commit();
        TaskReader only = reader(live, disk);
        TaskReader later = reader(live, disk);

        List<LoggedEvent> read = requireNonNull(only.next(Duration.ZERO));

        assertThat(read).isNotEmpty();
        assertThat(live.find(later, 0, Duration.ZERO)).isInstanceOf(Found.Behind.class);
        assertThat(later.next(Duration.ZERO))
                .extracting(LoggedEvent::sequence)
                .isEqualTo(read.stream().map(LoggedEvent::sequence).toList());
    }

    @Test
    void whatOneOfSeveralReadersHasReadIsInMemoryForTheOthers() throws InterruptedException {
        var disk = new MemoryTaskLog();
        var log = new SteppedLog(disk);
        var live = new LiveTask(new TaskKey(ALICE.scope(), "agent", "task"), "context", parts(log, new Ignoring()));
        TaskReader one = reader(live, disk);
        TaskReader other = reader(live, disk);
        assertThat(one.next(Duration.ZERO)).isEmpty();
        assertThat(other.next(Duration.ZERO)).isEmpty();

        turn(live, "first").working("busy");
        log.commit();

        assertThat(one.next(Duration.ZERO)).isNotEmpty();
        assertThat(live.find(other, 0, Duration.ZERO)).isInstanceOf(Found.Events.class);
        one.close();
        assertThat(live.find(other, 0, Duration.ZERO)).isInstanceOf(Found.Events.class);
        assertThat(live.find(other, 0, Duration.ZERO)).isInstanceOf(Found.Behind.class);
    }

    @Test
    void aReaderWhoseTaskIsErasedWhileItGoesToTheLogIsToldThatThereIsNone() {
        var disk = new MemoryTaskLog();
        LiveTask live = written(disk);
        TaskReader reader = reader(live, disk);

        disk.erase(List.of(live.key())); // the object in memory is yet to be told

        assertThatThrownBy(() -> reader.next(Duration.ZERO))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refusal -> assertThat(refusal.error()).isEqualTo(A2AError.TASK_NOT_FOUND));
    }

    @Test
    void aReaderWhoseTaskIsErasedInTheMiddleOfTheReadingHasTheEventsThatWereRead() throws InterruptedException {
        var disk = new MemoryTaskLog();
        LiveTask live = written(disk);
        var log = SteppedLog.flowing(disk);
        log.onNextRead(() -> log.erase(List.of(live.key())));
        TaskReader reader = reader(live, log);

        assertThat(reader.next(Duration.ZERO)).isNotEmpty();
    }

    @Test
    void aReaderOfATaskThatLacksEventsInTheLogFailsAtTheDamage() {
        var disk = new MemoryTaskLog();
        TaskKey key = written(disk).key();
        var ahead = new LiveTask(key, task(TaskState.WORKING), 99, false, parts(disk, new Ignoring()));

        assertThatThrownBy(
                        () -> new TaskReader(TASKS.pin(ahead), disk, 50, UnaryOperator.identity()).next(Duration.ZERO))
                .isInstanceOf(DamagedTaskException.class)
                .hasMessageContaining("no events after 50");
    }

    /** By events that are not on disk yet the last run may have ended the task, or asked. */
    @Test
    void aTaskIsTakenUpOnlyWhenItsEventsAreOnDisk() {
        var log = new SteppedLog(new MemoryTaskLog());
        var live = new LiveTask(new TaskKey(ALICE.scope(), "agent", "task"), "context", parts(log, new Ignoring()));
        turn(live, "first").working("busy");

        assertThat(live.hold()).isFalse();
        log.commit();
        assertThat(live.hold()).isTrue();
    }

    /** A task with one written segment that is no longer in memory. */
    private LiveTask written(MemoryTaskLog disk) {
        var log = new SteppedLog(disk);
        var live = new LiveTask(new TaskKey(ALICE.scope(), "agent", "task"), "context", parts(log, new Ignoring()));
        turn(live, "first").working("busy");
        log.commit();
        try (TaskReader only = reader(live, disk)) {
            assertThat(only.next(Duration.ZERO)).isNotEmpty();
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
        return live;
    }

    private LiveTask.EngineParts parts(TaskLog log, TaskListener listener) {
        return new LiveTask.EngineParts(
                log, Threads.PLATFORM, new TimeLimits(Threads.PLATFORM, timer), () -> false, listener);
    }

    private static class Ignoring implements TaskListener {
        @Override
        public void written(LiveTask live, Segment segment) {}

        @Override
        public void refuses(LiveTask live, Segment segment, Exception cause) {}

        @Override
        public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names) {}
    }

    private static Task task(TaskState state) {
        return new Task("task", "context", new TaskStatus(state, null, Instant.EPOCH), List.of(), List.of(), Map.of());
    }

    private static HandlerRun turn(LiveTask live, String text) {
        var origin = new HandlerRun.Origin(ALICE, List.of(), Map.of(), live.durable() != null, 1, List.of());
        return new HandlerRun(
                live,
                Message.user(Part.text(text)),
                origin,
                InstantSource.system(),
                TaskLimits.DEFAULTS,
                name -> null,
                () -> {});
    }
}
