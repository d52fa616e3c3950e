package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LiveTasksTest {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final LiveTasks tasks = new LiveTasks(1 << 20, 5 << 20, new Loader());
    private final Set<String> removed = ConcurrentHashMap.newKeySet();
    private Runnable onLoad = () -> {};
    private Runnable onExists = () -> {};
    private long newest = 1;
    private TaskState state = TaskState.INPUT_REQUIRED;

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void largeTasksInUseHaveABound() {
        Pin first = requireNonNull(tasks.pin(key("large-1")));
        requireNonNull(tasks.pin(key("large-2")));

        assertThatThrownBy(() -> tasks.pin(key("large-3")))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE));
        assertThat(tasks.pin(key("large-2"))).isNotNull();
        assertThat(tasks.pin(key("small"))).isNotNull();

        first.close();

        assertThat(tasks.pin(key("large-3"))).isNotNull();
    }

    @Test
    void aTaskThatIsRemovedWhileItIsReadIsNeverInMemory() {
        TaskKey key = key("removed");
        onLoad = () -> {
            removed.add("removed");
            tasks.removed(live -> live.key().equals(key));
        };
        var seen = new AtomicBoolean();
        onExists = () -> seen.set(tasks.peek(key) != null);

        assertThat(tasks.pin(key)).isNull();
        assertThat(seen).as("read by somebody else meanwhile").isFalse();
        assertThat(tasks.peek(key)).isNull();
    }

    @Test
    void tasksAreSettledAndRemovedWhileTheDiskOfAnotherIsSlow() throws Exception {
        var settled = new ArrayList<Pin>();
        for (int i = 0; i < 1_000; i++) { // some of them in one bin of the table with the slow one
            settled.add(requireNonNull(tasks.pin(key("task-" + i))));
        }
        var done = new CompletableFuture<Boolean>();
        onLoad = () -> {
            Thread.startVirtualThread(
                    () -> { // as the log's writer
                        settled.forEach(Pin::close);
                        tasks.removed(live -> live.key().equals(key("task-1")));
                        done.complete(true);
                    });
            assertThat(done.orTimeout(60, TimeUnit.SECONDS).join()).isTrue();
        };

        assertThat(tasks.pin(key("slow"))).isNotNull();

        assertThat(tasks.peek(key("task-1"))).isNull();
    }

    @Test
    void aTaskThatIsReadWhileAnotherIsRemovedIsKept() {
        onLoad = () -> tasks.removed(live -> false);

        assertThat(tasks.pin(key("small"))).isNotNull();
        assertThat(tasks.peek(key("small"))).isNotNull();
    }

    @Test
    void noReaderFindsATaskOnceItHasBeenRemoved() throws Exception {
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int round = 0; round < 2_000; round++) {
                TaskKey key = key("round-" + round);
                var begun = new CountDownLatch(1);
                Future<?> reader = readers.submit(() -> {
                    begun.countDown();
                    try (Pin pin = tasks.pin(key)) {
                        assertThat(pin == null || pin.task().key().equals(key)).isTrue();
                    }
                });
                begun.await();
                removed.add(key.taskId());
                tasks.removed(live -> live.key().equals(key));

                assertThat(tasks.peek(key)).as("round %s", round).isNull();
                reader.get();
                assertThat(tasks.peek(key))
                        .as("round %s, read to the end", round)
                        .isNull();
            }
        }
    }

    @Test
    void aCopyWithMoreEventsThanTheLogIsReadAgain() {
        try (Pin reader = requireNonNull(tasks.pin(key("older")))) {
            newest = 2;
            requireNonNull(tasks.pin(key("as-it-was"))).close();
            LiveTask same = tasks.peek(key("as-it-was"));

            tasks.retain(ids -> Map.of("older", 0L, "as-it-was", 2L));

            assertThat(same).isNotNull().isSameAs(tasks.peek(key("as-it-was")));
            assertThat(tasks.peek(key("older"))).isNull();
            assertThat(reader.task().isBroken()).isTrue();
            assertThat(requireNonNull(tasks.pin(key("older"))).task().written()).isEqualTo(2);
        }
    }

    @Test
    void aCopyOfATaskThatHasEndedIsReadAgainIfTheLogHasFurtherEvents() {
        state = TaskState.COMPLETED;
        LiveTask before = requireNonNull(tasks.pin(key("ended"))).task();

        tasks.retain(ids -> Map.of("ended", 2L));

        assertThat(before.isBroken()).isTrue();
        assertThat(requireNonNull(tasks.pin(key("ended"))).task()).isNotSameAs(before);
    }

    @Test
    void aTaskThatIsReadWhileTheLogLosesEventsIsReadAgain() {
        newest = 3;
        onLoad = () -> {
            if (newest == 3) {
                newest = 2;
                tasks.retain(ids -> Map.of());
            }
        };

        assertThat(requireNonNull(tasks.pin(key("going-back"))).task().written())
                .isEqualTo(2);
    }

    private static TaskKey key(String id) {
        return new TaskKey(CallContext.anonymous().scope(), "agent", id);
    }

    /** Has every task that is not removed, of two megabytes if its id says so. */
    private final class Loader implements LiveTasks.Loader {
        @Override
        public @Nullable LiveTask load(TaskKey key) {
            if (removed.contains(key.taskId())) {
                return null;
            }
            long sequence = newest;
            onLoad.run();
            String text = "x".repeat(key.taskId().startsWith("large") ? 2 << 20 : 10);
            var task = new Task(
                    key.taskId(),
                    "context",
                    new TaskStatus(state, null, Instant.EPOCH),
                    List.of(Artifact.of("a", Part.text(text))),
                    List.of(),
                    Map.of());
            var parts = new LiveTask.EngineParts(
                    new MemoryTaskLog(),
                    Threads.PLATFORM,
                    new TimeLimits(Threads.PLATFORM, timer),
                    () -> false,
                    new Ignoring());
            return new LiveTask(key, task, sequence, false, parts);
        }

        @Override
        public long newest(TaskKey key) {
            onExists.run();
            return removed.contains(key.taskId()) ? 0 : newest;
        }

        @Override
        public boolean refresh(LiveTask live) {
            return true;
        }

        @Override
        public void follow(TaskKey key) {}
    }

    private static final class Ignoring implements TaskListener {
        @Override
        public void written(LiveTask live, Segment segment) {}

        @Override
        public void refuses(LiveTask live, Segment segment, Exception cause) {}

        @Override
        public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names) {}
    }
}
