package dev.parley.client.calls;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The events of one task. Ends with an error at an event of another one, which would otherwise be merged into the task. */
public final class OneTask implements Feed<LoggedEvent> {
    private final Feed<LoggedEvent> events;
    private @Nullable String taskId;

    public OneTask(Feed<LoggedEvent> events, Operation.TaskWatch operation) {
        this.events = events;
        this.taskId = operation instanceof Operation.SubscribeToTask subscribe ? subscribe.id() : null;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        List<LoggedEvent> next = events.next(patience);
        if (next != null) {
            for (LoggedEvent event : next) {
                require(
                        switch (event.event()) {
                            case Task task -> task.id();
                            case TaskStatusUpdateEvent update -> update.taskId();
                            case TaskArtifactUpdateEvent update -> update.taskId();
                            case Message message -> null;
                        });
            }
        }
        return next;
    }

    private void require(@Nullable String id) {
        if (id == null) {
            return;
        }
        if (taskId == null) {
            taskId = id;
        } else if (!id.equals(taskId)) {
            events.close();
            throw A2AException.of(
                    A2AError.INVALID_AGENT_RESPONSE,
                    "The stream of task " + taskId + " brought an event of task " + id);
        }
    }

    @Override
    public void close() {
        events.close();
    }
}
