package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Pin;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tasks of a hosted agent: read through its endpoint, reported into its log. */
final class HostedTasks implements TaskManager {
    private final Parts parts;
    private final String agent;
    private final AgentEndpoint endpoint;
    private final CallContext context;

    HostedTasks(Parts parts, String agent, AgentEndpoint endpoint, CallContext caller) {
        this.parts = parts;
        this.agent = agent;
        this.endpoint = endpoint;
        this.context = caller.withDialect(caller.dialect(), true);
    }

    @Override
    public Task processTask(@Nullable String id, @Nullable String sessionId, Message message) {
        return (Task) endpoint.call(SendMessage.of(message.in(sessionId, id)), context);
    }

    @Override
    public Task getTask(String id, @Nullable Integer historyLength) {
        return endpoint.call(new GetTask(null, id, historyLength), context);
    }

    @Override
    public Task cancelTask(String id) {
        return endpoint.call(CancelTask.of(id), context);
    }

    @Override
    public Feed<LoggedEvent> subscribeToTask(String id) {
        return endpoint.watch(SubscribeToTask.of(id), context);
    }

    @Override
    public Task updateTaskStatus(String id, TaskState state, @Nullable Message message) {
        return report(id, task -> {
            Message said = message == null ? task.status().message() : message.in(task.contextId(), task.id());
            var status = new TaskStatus(state, said, parts.work().tasks().now());
            return new TaskStatusUpdateEvent(task.id(), task.contextId(), status, Map.of());
        });
    }

    @Override
    public Task addTaskArtifact(String id, Artifact artifact, boolean append) {
        return report(
                id,
                task -> new TaskArtifactUpdateEvent(task.id(), task.contextId(), artifact, append, false, Map.of()));
    }

    private Task report(String id, Function<Task, TaskEvent> event) {
        TaskKey key = parts.work().names().key(context, agent, id);
        try (Pin pin = parts.work().tasks().pinned(key)) {
            LiveTask live = pin.task();
            long reported = live.emit(task -> List.of(event.apply(requireNonNull(task))));
            return parts.work().tasks().written(live, reported, context);
        } catch (TaskEndedException ended) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    "The task has ended: nothing more can be said of it",
                    Map.of("taskId", id));
        }
    }
}
