package dev.parley.testkit;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One agent in an engine of its own, for tests of agents.
 *
 * <pre>{@code
 * try (var agent = LocalAgent.of(myAgent)) {
 *     Task task = agent.send("hello");
 *     assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
 * }
 * }</pre>
 *
 * <p>Every caller is {@link CallContext#anonymous()}. Safe for any thread.
 */
public final class LocalAgent implements AutoCloseable {
    /** Time for which a test waits for an expected event. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Engine engine;
    private final AgentEndpoint endpoint;

    private LocalAgent(Agent agent, TaskLog log) {
        this.engine = Engine.builder(log).grace(Duration.ofMillis(100)).build();
        this.endpoint = engine.host(agent);
    }

    /** Hosts an agent that knows no task yet. */
    public static LocalAgent of(Agent agent) {
        return new LocalAgent(agent, new MemoryTaskLog());
    }

    /** Hosts an agent over a log; a second time, over the same log, is a restart. */
    public static LocalAgent of(Agent agent, TaskLog log) {
        return new LocalAgent(agent, log);
    }

    /** The agent as callers see it. */
    public AgentEndpoint endpoint() {
        return endpoint;
    }

    /** Sends a message and waits for its outcome. */
    public SendResult answer(Message message) {
        return endpoint.call(SendMessage.of(message), CallContext.anonymous());
    }

    /** Sends text to a new task and waits until it ends or asks for something. */
    public Task send(String text) {
        return send(Part.text(text));
    }

    /** Sends parts to a new task and waits until it ends or asks for something. */
    public Task send(Part... parts) {
        return (Task) answer(Message.user(parts));
    }

    /** Sends text to a task that exists and waits until it ends or asks for something. */
    public Task proceed(Task task, String text) {
        return (Task) answer(Message.user(Part.text(text)).in(task.contextId(), task.id()));
    }

    /** Sends text to a new task and does not wait for more than its beginning. */
    public Task begin(String text) {
        var immediately = new SendConfiguration(List.of(), null, null, true);
        var send = new SendMessage(null, Message.user(Part.text(text)), immediately, Map.of());
        return (Task) endpoint.call(send, CallContext.anonymous());
    }

    /** Sends a message and returns all that happens until its task ends, its beginning included. */
    public List<TaskEvent> events(Message message) throws InterruptedException {
        return drain(endpoint.watch(SendStreamingMessage.of(message), CallContext.anonymous()));
    }

    /** Sends parts to a new task and returns all that happens until it ends, its beginning included. */
    public List<TaskEvent> events(Part... parts) throws InterruptedException {
        return events(Message.user(parts));
    }

    /** Watches a task that has not ended, from now on. */
    public Feed<LoggedEvent> watch(Task task) {
        return endpoint.watch(SubscribeToTask.of(task.id()), CallContext.anonymous());
    }

    /** The task as it is now. */
    public Task get(Task task) {
        return endpoint.call(GetTask.of(task.id()), CallContext.anonymous());
    }

    /** Cancels a task. */
    public Task cancel(Task task) {
        return endpoint.call(CancelTask.of(task.id()), CallContext.anonymous());
    }

    /**
     * Reads a stream to its end and closes it.
     *
     * @throws AssertionError if nothing happens for 10 seconds
     */
    public static List<TaskEvent> drain(Feed<LoggedEvent> stream) throws InterruptedException {
        var events = new ArrayList<TaskEvent>();
        try (stream) {
            for (var next = stream.next(PATIENCE); next != null; next = stream.next(PATIENCE)) {
                if (next.isEmpty()) {
                    throw new AssertionError("nothing happened for " + PATIENCE.toSeconds() + " s, after " + events);
                }
                next.stream().map(LoggedEvent::event).forEach(events::add);
            }
        }
        return events;
    }

    /** Stops the engine and closes the log. Interrupts running handlers. */
    @Override
    public void close() {
        engine.close();
    }
}
