package dev.parley.dialect;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An agent that behaves as clients of older versions expect: a task's only webhook need not be named, streams end when
 * the task waits for its caller, and (in 0.1) every answer is a task, called as its caller calls it.
 */
final class LegacyEndpoint implements AgentEndpoint {
    private final AgentEndpoint agent;
    private final boolean first;
    private final @Nullable Predicate<TaskState> isFinal;

    /**
     * @param first whether for 0.1 and its like
     * @param isFinal the states that end a stream; null for the end of the task only
     */
    LegacyEndpoint(AgentEndpoint agent, boolean first, @Nullable Predicate<TaskState> isFinal) {
        this.agent = agent;
        this.first = first;
        this.isFinal = isFinal;
    }

    @Override
    @SuppressWarnings("unchecked") // what is shown is of the type that the operation declares
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        Object result = operation instanceof GetPushConfig get ? find(get, context) : agent.call(operation, context);
        return first ? (R) shown(result, nameIn(operation)) : (R) result;
    }

    private PushConfig find(GetPushConfig get, CallContext context) {
        try {
            return agent.call(get, context);
        } catch (A2AException missing) {
            boolean unnamed = get.id().equals(get.taskId()) || get.id().equals("default");
            if (missing.error() != A2AError.TASK_NOT_FOUND || !unnamed) {
                throw missing;
            }
            List<PushConfig> all = agent.call(new ListPushConfigs(null, get.taskId(), 0, null), context)
                    .configs();
            if (all.isEmpty()) {
                throw missing;
            }
            return all.getFirst();
        }
    }

    @Override
    public EventStream watch(Operation.Watch operation, CallContext context) {
        EventStream events =
                first ? renamed(open(agent, operation, context), nameIn(operation)) : agent.watch(operation, context);
        return isFinal == null ? events : new UntilFinal(events, isFinal);
    }

    /** In 0.1 a task that has ended can be watched: it shows how it ended. */
    static EventStream open(AgentEndpoint agent, Operation.Watch operation, CallContext context) {
        try {
            return agent.watch(operation, context);
        } catch (A2AException refused) {
            if (!(operation instanceof SubscribeToTask subscribe)
                    || refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                throw refused;
            }
            Task task = agent.call(new GetTask(null, subscribe.id(), null), context);
            if (!task.state().isTerminal()) {
                throw refused;
            }
            return new OneEvent(new LoggedEvent(0, task));
        }
    }

    /** What the caller calls the task; null if it has left that to the server. */
    private static @Nullable String nameIn(Operation operation) {
        return switch (operation) {
            case Send send -> send.message().taskId();
            case GetTask get -> get.id();
            case Operation.CancelTask cancel -> cancel.id();
            case SubscribeToTask subscribe -> subscribe.id();
            case CreatePushConfig create -> create.config().taskId();
            case GetPushConfig get -> get.taskId();
            default -> null;
        };
    }

    private static Object shown(Object result, @Nullable String name) {
        return switch (result) {
            case TaskEvent event when name != null -> renamed(event, name);
            case PushConfig config
            when name != null ->
                new PushConfig(null, config.id(), name, config.url(), config.token(), config.authentication());
            default -> result;
        };
    }

    /** Returns the event as that of a task with another id. */
    static TaskEvent renamed(TaskEvent event, String name) {
        return switch (event) {
            case Task task ->
                new Task(name, task.contextId(), task.status(), task.artifacts(), task.history(), task.metadata());
            case Message message -> message.in(message.contextId(), name);
            case TaskStatusUpdateEvent update ->
                new TaskStatusUpdateEvent(name, update.contextId(), update.status(), update.metadata());
            case TaskArtifactUpdateEvent update ->
                new TaskArtifactUpdateEvent(
                        name,
                        update.contextId(),
                        update.artifact(),
                        update.append(),
                        update.lastChunk(),
                        update.metadata());
        };
    }

    private static EventStream renamed(EventStream events, @Nullable String name) {
        return name == null ? events : new MappedStream(events, event -> renamed(event, name));
    }

    /** A stream of one event. */
    static final class OneEvent implements EventStream {
        private @Nullable LoggedEvent event;

        OneEvent(LoggedEvent event) {
            this.event = event;
        }

        @Override
        public @Nullable List<LoggedEvent> next(Duration patience) {
            LoggedEvent next = event;
            event = null;
            return next == null ? null : List.of(next);
        }

        @Override
        public void close() {
            event = null;
        }
    }
}
