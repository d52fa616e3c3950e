package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LiveTasksTest {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final LiveTasks tasks = new LiveTasks(0, 5 << 20, new Loader());

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void largeTasksInUseHaveABound() {
        LiveTask first = requireNonNull(tasks.pin(key("large-1")));
        requireNonNull(tasks.pin(key("large-2")));

        assertThatThrownBy(() -> tasks.pin(key("large-3")))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE));
        assertThat(tasks.pin(key("large-2"))).isNotNull();
        assertThat(tasks.pin(key("small"))).isNotNull();

        tasks.unpin(first);

        assertThat(tasks.pin(key("large-3"))).isNotNull();
    }

    private static TaskKey key(String id) {
        return new TaskKey(CallContext.anonymous().scope(), "agent", id);
    }

    /** Has every task, of two megabytes if its id says so. */
    private final class Loader implements LiveTasks.Loader {
        @Override
        public LiveTask load(TaskKey key) {
            String text = "x".repeat(key.taskId().startsWith("large") ? 2 << 20 : 10);
            var task = new Task(
                    key.taskId(),
                    "context",
                    new TaskStatus(TaskState.INPUT_REQUIRED, null, Instant.EPOCH),
                    List.of(Artifact.of("a", Part.text(text))),
                    List.of(),
                    Map.of());
            var surroundings = new LiveTask.Surroundings(
                    new MemoryTaskLog(),
                    Threads.PLATFORM,
                    new Limits(Threads.PLATFORM, timer),
                    () -> false,
                    new Ignoring());
            return new LiveTask(key, task, 1, false, surroundings);
        }

        @Override
        public boolean exists(TaskKey key) {
            return true;
        }
    }

    private static final class Ignoring implements LiveTask.Listener {
        @Override
        public void written(LiveTask live, Segment segment) {}

        @Override
        public void refuses(LiveTask live, Segment segment) {}

        @Override
        public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names) {}
    }
}
