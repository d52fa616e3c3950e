package dev.parley.engine.mail;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.mail.OwnerMail.Handed;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.engine.spi.TaskMail;
import dev.parley.engine.spi.TaskMail.Answer;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.TaskListener;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class OwnerMailTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final TaskKey KEY = new TaskKey(CALLER.scope(), "agent", "task");
    private static final Duration LONG = Duration.ofHours(1);

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final TimeLimits limits = new TimeLimits(Threads.PLATFORM, timer);
    private final LinkedBlockingQueue<CompletableFuture<Answer>> sent = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> closed = new LinkedBlockingQueue<>();
    private volatile boolean isStopped;
    private final OwnerMail mail = new OwnerMail(new Fake(), Threads.PLATFORM, limits, () -> isStopped);

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    /** Sends each call to an owner that answers when the test says so. */
    private final class Fake implements TaskMail {
        @Override
        public Optional<Outgoing> send(Request request) {
            var answer = new CompletableFuture<Answer>();
            sent.add(answer);
            return Optional.of(new Outgoing() {
                @Override
                public CompletableFuture<Answer> answer() {
                    return answer;
                }

                @Override
                public void close() {
                    closed.add(request.task().taskId());
                }
            });
        }

        @Override
        public void onHint(Runnable listener) {}

        @Override
        public boolean look() {
            return false;
        }

        @Override
        public List<Incoming> receive(int limit) {
            return List.of();
        }
    }

    private LiveTask task(TaskState state, Once once) {
        var task = new Task("task", "context", TaskStatus.of(state, Instant.EPOCH), List.of(), List.of(), Map.of());
        var parts = new LiveTask.EngineParts(
                new MemoryTaskLog(InstantSource.system(), once),
                Threads.PLATFORM,
                limits,
                () -> isStopped,
                new TaskListener() {
                    @Override
                    public void written(LiveTask live, Segment segment) {}

                    @Override
                    public void refuses(LiveTask live, Segment segment, Exception cause) {}

                    @Override
                    public void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names) {}
                });
        return new LiveTask(KEY, task, 1, false, parts);
    }

    private Handed hand(Duration patience) {
        return mail.hand(task(TaskState.WORKING, Once.CLAIM), CancelTask.of("task"), CALLER, patience);
    }

    private CompletableFuture<Answer> nextSent() throws InterruptedException {
        return requireNonNull(sent.poll(30, TimeUnit.SECONDS), "no call within 30 s");
    }

    private static A2AException refusal(@Nullable Throwable failure) {
        return (A2AException) requireNonNull(requireNonNull(failure).getCause());
    }

    @Test
    void callsOfTasksThatNoOtherEngineRunsAreKept() {
        assertThat(mail.hand(task(TaskState.WORKING, Once.INDEX), CancelTask.of("task"), CALLER, LONG))
                .isEqualTo(new Handed.Kept());
        for (TaskState settled : List.of(TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED, TaskState.COMPLETED)) {
            assertThat(mail.hand(task(settled, Once.CLAIM), CancelTask.of("task"), CALLER, LONG))
                    .as(settled.name())
                    .isEqualTo(new Handed.Kept());
        }
        assertThat(sent).isEmpty();
    }

    @Test
    void theAnswerOfTheOwnerIsReturned() throws Exception {
        var handed = CompletableFuture.supplyAsync(() -> hand(LONG));
        nextSent().complete(new Answer.Done("task"));
        assertThat(handed.get(30, TimeUnit.SECONDS)).isEqualTo(new Handed.Done("task"));

        handed = CompletableFuture.supplyAsync(() -> hand(LONG));
        nextSent().complete(new Answer.Lost());
        assertThat(handed.get(30, TimeUnit.SECONDS)).isEqualTo(new Handed.Lost());
        assertThat(closed).hasSize(2);
    }

    @Test
    void theRefusalOfTheOwnerIsThrown() throws Exception {
        A2AException refusal = A2AException.taskNotFound("task");
        var handed = CompletableFuture.supplyAsync(() -> hand(LONG));

        nextSent().complete(new Answer.Failed(refusal));

        assertThat(handed)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withCause(refusal);
    }

    @Test
    void aCallOfATaskThatHasMovedIsToBeAdmittedAgain() throws Exception {
        var handed = CompletableFuture.supplyAsync(() -> hand(LONG));

        nextSent().complete(new Answer.Moved());

        assertThat(handed.handle((any, failure) -> mail.isElsewhere(refusal(failure))))
                .succeedsWithin(Duration.ofSeconds(30))
                .isEqualTo(true);
    }

    @Test
    void aCallThatCouldNotBeSentIsUnavailable() throws Exception {
        var handed = CompletableFuture.supplyAsync(() -> hand(LONG));

        nextSent().completeExceptionally(new IllegalStateException("disk full"));

        assertThat(handed.handle((any, failure) -> refusal(failure).error()))
                .succeedsWithin(Duration.ofSeconds(30))
                .isEqualTo(A2AError.UNAVAILABLE);
    }

    @Test
    void aWaitEndsWithThePatienceOfItsCaller() {
        assertThatThrownBy(() -> hand(Duration.ofMillis(10))).isInstanceOfSatisfying(A2AException.class, refusal -> {
            assertThat(refusal.error()).isEqualTo(A2AError.UNAVAILABLE);
            assertThat(refusal.retryAfter()).isNotNull();
            assertThat(mail.isElsewhere(refusal)).isFalse();
        });
        assertThat(closed).containsExactly("task");
    }

    @Test
    void aWaitEndsWhenTheEngineStops() throws Exception {
        var handed = CompletableFuture.supplyAsync(() -> hand(LONG));
        var unused = nextSent();

        isStopped = true;
        mail.wakeAll();

        assertThat(handed)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withMessageContaining("The server is stopping");
        assertThat(closed).containsExactly("task");
    }
}
