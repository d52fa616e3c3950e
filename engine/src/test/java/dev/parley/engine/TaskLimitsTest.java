package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long conversations and tasks may become. */
@Timeout(20)
final class TaskLimitsTest {
    private static final CallContext ALICE = CallContext.of("alice", new CallContext.Scope("t1", "alice"));
    private static final CallContext BOB = CallContext.of("bob", new CallContext.Scope("t1", "bob"));
    private static final TaskLimits LIMITS = new TaskLimits(3, 10, 10_000);

    private static final AgentHandler ASKS = (request, reply) -> {
        if (request.text().equals("enough")) {
            reply.complete("thanks");
        } else {
            reply.askForInput("what else?");
        }
    };

    private final MemoryTaskLog log = new MemoryTaskLog();

    private Engine engine() {
        return Engine.builder(log).grace(Duration.ZERO).taskLimits(LIMITS).build();
    }

    private static AgentEndpoint host(Engine engine, AgentHandler handler) {
        return engine.host(Agent.named("agent", "For a test").handle(handler));
    }

    private static SendResult send(AgentEndpoint agent, Message message, CallContext caller) {
        return agent.call(SendMessage.of(message), caller);
    }

    private static Task task(AgentEndpoint agent, String context) {
        return (Task) send(agent, say("hello", context), ALICE);
    }

    private static Message say(String text, String context) {
        return Message.user(Part.text(text)).in(context, null);
    }

    private static Message answer(Task task, String text) {
        return Message.user(Part.text(text)).in(null, task.id());
    }

    private static void assertRefused(AgentEndpoint agent, Message message, String words) {
        assertThatThrownBy(() -> send(agent, message, ALICE))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION))
                .hasMessageContaining(words);
    }

    @Test
    void aContextHasSoManyTurnsAndNoMore() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, ASKS);
            Task first = task(agent, "talk");
            send(agent, answer(first, "more"), ALICE);
            Task second = task(agent, "talk");

            String words = "The context has had 3 messages (expected: at most 3):"
                    + " send the message without naming a context or a task to begin another";
            assertRefused(agent, answer(second, "more"), words);
            assertRefused(agent, say("hello", "talk"), words);

            assertThat(agent.call(GetTask.of(second.id()), ALICE)).isEqualTo(second);
            assertThat(agent.call(ListTasks.all(), ALICE).totalSize()).isEqualTo(2);
            assertThat(task(agent, "another talk").state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(send(agent, say("hello", "talk"), BOB)).isInstanceOf(Task.class);
        }
    }

    @Test
    void turnsAreCountedOverARestart() {
        Task task;
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, ASKS);
            task = (Task) send(agent, Message.user(Part.text("hello")), ALICE);
            send(agent, answer(task, "more"), ALICE);
        }
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, ASKS);
            task(agent, task.contextId());

            assertRefused(agent, answer(task, "more"), "at most 3");
        }
    }

    @Test
    void messagesThatLeadToNoTaskCountToo() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> reply.message("well"));
            for (int i = 0; i < LIMITS.turns(); i++) {
                assertThat(send(agent, say("hello", "talk"), ALICE)).isInstanceOf(Message.class);
            }

            assertRefused(agent, say("hello", "talk"), "at most 3");
        }
    }

    @Test
    void anErasureGivesTurnsBackToNobodyElse() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> reply.message("well"));
            AgentEndpoint asks = engine.host(Agent.named("asks", "For a test").handle(ASKS));
            for (int i = 0; i < LIMITS.turns(); i++) {
                send(agent, say("hello", "talk"), ALICE);
                send(asks, say("hello", "talk"), BOB);
            }

            assertThat(engine.erase(new Subject("t1", "bob", null), ALICE, ids -> {}))
                    .isEqualTo(LIMITS.turns());

            assertRefused(agent, say("hello", "talk"), "at most 3");
            assertThat(send(asks, say("hello", "talk"), BOB)).isInstanceOf(Task.class);
        }
    }

    @Test
    void idsHaveALengthThatCanBeKept() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> reply.message("well"));

            assertThat(send(agent, say("hello", "c".repeat(256)), ALICE)).isInstanceOf(Message.class);
            assertThatThrownBy(() -> send(agent, say("hello", "c".repeat(257)), ALICE))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS))
                    .hasMessageContaining("message.contextId: 257 characters (expected: at most 256)");
        }
    }

    @Test
    void messagesThatAreRefusedOrRepeatedTakeNoTurn() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, ASKS);
            Message once = say("enough", "talk");
            Task ended = (Task) send(agent, once, ALICE);
            for (int i = 0; i < LIMITS.turns(); i++) {
                assertRefused(agent, answer(ended, "more"), "has ended");
                assertThat(send(agent, once, ALICE)).isEqualTo(ended);
            }

            assertThat(task(agent, "talk").state()).isEqualTo(TaskState.INPUT_REQUIRED);
        }
    }

    @Test
    void anAgentThatProducesWithoutEndFailsItsTaskWhichKeepsWhatItHas() {
        var told = new CompletableFuture<Throwable>();
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> {
                try (Reply.ArtifactWriter pieces = reply.stream("story")) {
                    while (true) {
                        pieces.append("and ");
                    }
                } catch (TaskEndedException ended) {
                    told.complete(ended);
                    throw ended;
                }
            });

            Task task = task(agent, "talk");

            assertThat(told).succeedsWithin(Duration.ofSeconds(10));
            assertThat(task.state()).isEqualTo(TaskState.FAILED);
            assertThat(requireNonNull(task.status().message()).text())
                    .isEqualTo("The task got too large: 11 events (expected: at most 10)");
            assertThat(task.artifacts().getFirst().parts()).hasSize(9);
        }
    }

    @Test
    void aTaskMayEndWhereNothingElseMayHappen() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> {
                for (int i = 0; i < 9; i++) {
                    reply.progress(i, null);
                }
                reply.complete();
            });

            assertThat(task(agent, "talk").state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void whatATaskHoldsIsLimitedToo() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> {
                reply.artifact("small", "x".repeat(5_000));
                reply.complete(Part.data(Map.of("large", "x".repeat(5_000))));
            });

            Task task = task(agent, "talk");

            assertThat(task.state()).isEqualTo(TaskState.FAILED);
            assertThat(requireNonNull(task.status().message()).text())
                    .matches("The task got too large: \\d+ bytes \\(expected: at most 10000\\)");
            assertThat(task.artifacts()).hasSize(1);
        }
    }

    @Test
    void theFirstMessageIsPartOfWhatATaskHolds() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, (request, reply) -> reply.complete(request.text()));

            assertThat(((Task) send(agent, say("x".repeat(3_000), "talk"), ALICE)).state())
                    .isEqualTo(TaskState.COMPLETED);
            assertThat(((Task) send(agent, say("x".repeat(6_000), "talk"), ALICE)).state())
                    .isEqualTo(TaskState.FAILED);
        }
    }

    @Test
    void aMessageThatIsTooMuchForItsTaskIsRefused() {
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, ASKS);
            Task task = task(agent, "talk");

            assertRefused(
                    agent,
                    answer(task, "x".repeat(10_000)),
                    "(expected: at most 10000): send the message without taskId to begin another");

            assertThat(agent.call(GetTask.of(task.id()), ALICE)).isEqualTo(task);
            assertThat(((Task) send(agent, answer(task, "enough"), ALICE)).state())
                    .isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    void eventsAreCountedOverARestart() {
        AgentHandler talks = (request, reply) -> {
            reply.working("reading");
            reply.working("thinking");
            reply.askForInput("what else?");
        };
        Task task;
        try (Engine engine = engine()) {
            task = task(host(engine, talks), "talk");
        }
        try (Engine engine = engine()) {
            AgentEndpoint agent = host(engine, talks);
            // Four events are there; a message to a task that waits is two more, and then there are three.
            send(agent, answer(task, "more"), ALICE);

            assertRefused(agent, answer(task, "more"), "The task would have 11 events (expected: at most 10)");
        }
    }
}
