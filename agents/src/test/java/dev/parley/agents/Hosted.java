package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.MemoryTaskLog;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
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

/** One agent in an engine of its own. */
final class Hosted implements AutoCloseable {
    private final Engine engine;
    private final AgentEndpoint agent;

    Hosted(Agent agent) {
        this(agent, new MemoryTaskLog());
    }

    Hosted(Agent agent, MemoryTaskLog log) {
        this.engine = Engine.builder(log).grace(Duration.ofMillis(100)).build();
        this.agent = engine.host(agent);
    }

    SendResult answer(Part... parts) {
        return agent.call(SendMessage.of(Message.user(parts)), CallContext.anonymous());
    }

    Task send(Part... parts) {
        return (Task) answer(parts);
    }

    Task proceed(Task task, String text) {
        Message message = Message.user(Part.text(text)).in(task.contextId(), task.id());
        return (Task) agent.call(SendMessage.of(message), CallContext.anonymous());
    }

    EventStream stream(Part... parts) {
        return agent.watch(SendStreamingMessage.of(Message.user(parts)), CallContext.anonymous());
    }

    EventStream subscribe(String id) {
        return agent.watch(SubscribeToTask.of(id), CallContext.anonymous());
    }

    /** All events of a stream, to its end. */
    static List<TaskEvent> events(EventStream stream) throws InterruptedException {
        var events = new ArrayList<TaskEvent>();
        try (stream) {
            for (var next = stream.next(Duration.ofSeconds(10));
                    next != null && !next.isEmpty();
                    next = stream.next(Duration.ofSeconds(10))) {
                next.stream().map(LoggedEvent::event).forEach(events::add);
            }
        }
        return events;
    }

    Task get(String id) {
        return agent.call(GetTask.of(id), CallContext.anonymous());
    }

    Task cancel(String id) {
        return agent.call(CancelTask.of(id), CallContext.anonymous());
    }

    @Override
    public void close() {
        engine.close();
    }
}
