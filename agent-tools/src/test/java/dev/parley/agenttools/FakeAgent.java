package dev.parley.agenttools;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Client of an agent in the test, which chooses the ids of its tasks and the time of its answers. */
final class FakeAgent implements AgentClient {
    /** Answers to messages. */
    @FunctionalInterface
    interface Answers {
        SendResult to(FakeAgent agent, Message message) throws InterruptedException;
    }

    /** Streams of messages. */
    @FunctionalInterface
    interface Streams {
        Feed<LoggedEvent> of(FakeAgent agent, Message message) throws InterruptedException;
    }

    /** Work before a task is read. */
    @FunctionalInterface
    interface Reads {
        void of(String taskId) throws InterruptedException;
    }

    /** A request to the agent. */
    record Call(Operation operation, @Nullable Instant deadline) {}

    final ConcurrentLinkedQueue<Call> calls = new ConcurrentLinkedQueue<>();
    private final Map<String, Task> tasks = new ConcurrentHashMap<>();
    private final AgentCard card;
    private final Answers answers;
    private final Streams streams;

    private volatile Reads reads = id -> {};

    private FakeAgent(String name, boolean streaming, Answers answers, Streams streams) {
        this.card = new AgentCard(
                name,
                "Is a fake",
                List.of(new AgentCard.Interface("http://127.0.0.1:1/", AgentCard.Interface.JSONRPC, null, "1.0")),
                null,
                "1",
                null,
                new AgentCard.Capabilities(streaming, false, List.of(), false),
                Map.of(),
                List.of(),
                List.of("text/plain"),
                List.of("text/plain"),
                List.of(),
                List.of(),
                null);
        this.answers = answers;
        this.streams = streams;
    }

    /** An agent without streams. */
    static FakeAgent answering(String name, Answers answers) {
        return new FakeAgent(name, false, answers, (agent, message) -> {
            throw new UnsupportedOperationException("no streams");
        });
    }

    /** An agent with streams. */
    static FakeAgent streaming(String name, Streams streams) {
        return new FakeAgent(
                name,
                true,
                (agent, message) -> {
                    throw new UnsupportedOperationException("only streams");
                },
                streams);
    }

    FakeAgent reading(Reads reads) {
        this.reads = reads;
        return this;
    }

    /** A task without artifacts, which can be read from now on. */
    Task task(String id, TaskState state, String text) {
        var task = new Task(
                id,
                "context-of-" + id,
                new TaskStatus(state, Message.agent(Part.text(text)), null),
                List.of(),
                List.of(),
                Map.of());
        tasks.put(id, task);
        return task;
    }

    @Override
    @SuppressWarnings("unchecked") // each operation has its type of result
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        calls.add(new Call(operation, context.deadline()));
        try {
            return (R)
                    switch (operation) {
                        case Operation.SendMessage send -> answers.to(this, send.message());
                        case Operation.GetTask get -> {
                            reads.of(get.id());
                            yield requireNonNull(tasks.get(get.id()), get.id());
                        }
                        case Operation.CancelTask cancel -> task(cancel.id(), TaskState.CANCELED, "");
                        default -> throw new UnsupportedOperationException(operation.name());
                    };
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an answer", stopped);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // only events of tasks are streamed
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        calls.add(new Call(operation, context.deadline()));
        try {
            return (Feed<E>) streams.of(this, ((Operation.SendStreamingMessage) operation).message());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an answer", stopped);
        }
    }

    @Override
    public AgentCard card() {
        return card;
    }

    @Override
    public AgentCard.Interface address() {
        return card.supportedInterfaces().getFirst();
    }

    @Override
    public AgentCard refreshCard() {
        return card;
    }

    @Override
    public AgentCard extendedCard() {
        return card;
    }

    @Override
    public HttpCall.Answer exchange(HttpCall call, Duration timeout) {
        throw new UnsupportedOperationException("only operations of A2A");
    }

    @Override
    public void close() {}
}
