package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine shows tasks that another one runs, which writes to the same log. */
@Timeout(30)
final class FollowedTasksTest {
    private static final CallContext CALLER = Calls.ALICE;

    private final MemoryTaskLog log = new MemoryTaskLog(InstantSource.system(), Once.CLAIM);
    private final Engine first = Engine.builder(log).grace(Duration.ZERO).build();
    private final Engine second =
            Engine.builder(log.share()).grace(Duration.ZERO).build();
    /** What the agent does next. */
    private final LinkedBlockingQueue<String> steps = new LinkedBlockingQueue<>();

    private final AgentEndpoint one = host(first);
    private final AgentEndpoint other = host(second);

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    private AgentEndpoint host(Engine engine) {
        return engine.host(Agent.named("agent", "Runs the steps of a test").handle((request, reply) -> {
            reply.working("begins");
            for (String step = steps.take(); ; step = steps.take()) {
                switch (step) {
                    case "end" -> {
                        reply.complete("done");
                        return;
                    }
                    case "ask" -> {
                        reply.askForInput("what?");
                        return;
                    }
                    default -> reply.artifact(step, step);
                }
            }
        }));
    }

    private static Task send(AgentEndpoint agent, Message message, boolean immediately) {
        var configuration = new SendConfiguration(List.of(), null, null, immediately);
        return (Task) agent.call(new SendMessage(null, message, configuration, Map.of()), CALLER);
    }

    private static Message message(String id) {
        return Message.user(Part.text("hello")).withId(id);
    }

    private static Task get(AgentEndpoint agent, Task task) {
        return agent.call(new GetTask(null, task.id(), null), CALLER);
    }

    private static List<LoggedEvent> rest(Feed<LoggedEvent> feed) throws InterruptedException {
        var read = new ArrayList<LoggedEvent>();
        for (List<LoggedEvent> next = feed.next(Duration.ofSeconds(10));
                next != null;
                next = feed.next(Duration.ofSeconds(10))) {
            read.addAll(next);
        }
        return read;
    }

    /** Waits until the engine that runs the task has written so many events of a kind. */
    private void awaitAtOwner(Task task, Class<? extends TaskEvent> kind, int events) throws InterruptedException {
        try (Feed<LoggedEvent> stream = one.watch(new SubscribeToTask(null, task.id(), 0L), CALLER)) {
            for (int seen = 0; seen < events; ) {
                for (LoggedEvent event : requireNonNull(stream.next(Duration.ofSeconds(10)))) {
                    seen += kind.isInstance(event.event()) ? 1 : 0;
                }
            }
        }
    }

    @Test
    void aTaskIsReadAtItsNewestStateAlsoIfItWasReadBefore() throws Exception {
        Task task = send(one, message("m-1"), true);
        assertThat(get(other, task).artifacts()).isEmpty();

        for (int i = 1; i <= 3; i++) {
            steps.add("step " + i);
            int artifacts = i;
            awaitAtOwner(task, TaskArtifactUpdateEvent.class, artifacts);
            assertThat(get(other, task).artifacts()).hasSize(i);
        }
        steps.add("end");
        Calls.await(one, task.id());
        assertThat(get(other, task)).isEqualTo(get(one, task));
    }

    @Test
    void aStreamOfAnotherEngineHasAllEventsOnceAndInOrder() throws Exception {
        Task task = send(one, message("m-1"), true);
        steps.add("before");
        awaitAtOwner(task, TaskArtifactUpdateEvent.class, 1);
        long seen;
        try (Feed<LoggedEvent> stream = one.watch(new SubscribeToTask(null, task.id(), null), CALLER)) {
            seen = requireNonNull(stream.next(Duration.ofSeconds(10))).getLast().sequence();
        }
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task.id(), seen), CALLER)) {
            var reading = CompletableFuture.supplyAsync(() -> {
                try {
                    return rest(stream);
                } catch (InterruptedException stopped) {
                    throw new IllegalStateException(stopped);
                }
            });
            LongStream.range(0, 50).forEach(i -> steps.add("step " + i));
            steps.add("end");

            List<LoggedEvent> read = reading.orTimeout(10, TimeUnit.SECONDS).join();
            assertThat(read)
                    .extracting(LoggedEvent::sequence)
                    .containsExactlyElementsOf(
                            LongStream.rangeClosed(seen + 1, read.getLast().sequence())
                                    .boxed()
                                    .toList());
            assertThat(read)
                    .filteredOn(event -> event.event() instanceof TaskArtifactUpdateEvent)
                    .hasSize(51); // with its result
        }
    }

    @Test
    void aRepetitionAtAnotherEngineWaitsForTheEndOfTheTask() throws Exception {
        Task task = send(one, message("m-1"), true);
        var repeated = CompletableFuture.supplyAsync(() -> send(other, message("m-1"), false));
        steps.add("step");
        awaitAtOwner(task, TaskArtifactUpdateEvent.class, 1);
        assertThat(repeated).isNotDone();

        steps.add("end");

        Task ended = repeated.orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(ended.id()).isEqualTo(task.id());
        assertThat(ended.state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void aTaskThatWaitsForItsCallerGoesOnWhereTheAnswerArrives() {
        steps.add("ask");
        Task task = send(one, message("m-1"), false);
        assertThat(get(other, task).state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(get(one, task).state()).isEqualTo(TaskState.INPUT_REQUIRED);

        steps.add("ask");
        Task asked = send(other, message("m-2").in(null, task.id()), false);
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(get(one, task)).isEqualTo(asked);

        steps.add("end");
        Task ended = send(one, message("m-3").in(null, task.id()), false);
        assertThat(ended.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(get(other, task)).isEqualTo(ended);
    }

    @Test
    void anErasedTaskIsGoneAtTheOtherEngine() throws Exception {
        Task task = send(one, message("m-1"), true);
        try (Feed<LoggedEvent> stream = other.watch(new SubscribeToTask(null, task.id(), null), CALLER)) {
            stream.next(Duration.ofSeconds(10));
            log.erase(List.of(new TaskKey(CALLER.scope(), "agent", task.id())));

            assertThatThrownBy(() -> rest(stream)).isInstanceOf(A2AException.class);
        }
        assertThatThrownBy(() -> get(other, task))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining("not found");
    }
}
