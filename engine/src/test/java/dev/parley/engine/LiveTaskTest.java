package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LiveTaskTest {
    private static final CallContext ALICE = CallContext.anonymous();

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void aQuestionIsNoAnswerToAMessageThatTheAgentHasNotReadYet() {
        var asked = new Task(
                "task",
                "context",
                new TaskStatus(TaskState.INPUT_REQUIRED, null, Instant.EPOCH),
                List.of(),
                List.of(),
                Map.of());
        var live = new LiveTask(
                new TaskKey(ALICE.scope(), "agent", "task"),
                asked,
                3,
                new MemoryTaskLog(),
                new Limits(timer),
                (task, segment) -> {});
        Turn asking = turn(live, "first");
        Turn next = turn(live, "second");

        assertThat(live.enter(asking)).isTrue();
        assertThat(live.isSettled(asked)).isTrue();
        assertThat(live.enter(next)).isFalse();
        assertThat(live.isSettled(asked)).isFalse();

        // Between two turns nobody shall be told that the agent waits for more.
        assertThat(live.leave()).isSameAs(next);
        assertThat(live.isSettled(asked)).isFalse();

        live.reads(next);
        assertThat(live.hasMail()).isFalse();
        assertThat(live.leave()).isNull();
    }

    private static Turn turn(LiveTask live, String text) {
        var origin = new Turn.Origin(ALICE, List.of(), Map.of(), true, 1, null);
        return new Turn(
                live,
                Message.user(Part.text(text)),
                origin,
                InstantSource.system(),
                TaskLimits.DEFAULTS,
                null,
                () -> {});
    }
}
