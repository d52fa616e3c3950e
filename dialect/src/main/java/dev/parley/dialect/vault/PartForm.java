package dev.parley.dialect.vault;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.List;
import java.util.stream.IntStream;

/** Another form of a part, which an artifact or message of that id holds in the given place. */
@FunctionalInterface
interface PartForm {
    Part of(String taskId, String holder, int index, Part part);

    /** A task with its parts in this form. */
    default Task in(Task task) {
        String id = task.id();
        return new Task(
                id,
                task.contextId(),
                of(id, task.status()),
                task.artifacts().stream().map(one -> of(id, one)).toList(),
                task.history().stream().map(one -> of(id, one)).toList(),
                task.metadata());
    }

    /** An event with its parts in this form; a message that is the whole answer stays as it is. */
    default TaskEvent in(TaskEvent event) {
        return switch (event) {
            case Task task -> in(task);
            case Message message -> message;
            case TaskStatusUpdateEvent(var id, var context, var status, var metadata) ->
                new TaskStatusUpdateEvent(id, context, of(id, status), metadata);
            case TaskArtifactUpdateEvent(var id, var context, var artifact, var append, var last, var metadata) ->
                new TaskArtifactUpdateEvent(id, context, of(id, artifact), append, last, metadata);
        };
    }

    private List<Part> of(String taskId, String holder, List<Part> parts) {
        return IntStream.range(0, parts.size())
                .mapToObj(index -> of(taskId, holder, index, parts.get(index)))
                .toList();
    }

    private Message of(String taskId, Message message) {
        return message.withParts(of(taskId, message.messageId(), message.parts()));
    }

    private Artifact of(String taskId, Artifact artifact) {
        return artifact.withParts(of(taskId, artifact.artifactId(), artifact.parts()));
    }

    private TaskStatus of(String taskId, TaskStatus status) {
        Message message = status.message();
        return message == null ? status : new TaskStatus(status.state(), of(taskId, message), status.timestamp());
    }
}
