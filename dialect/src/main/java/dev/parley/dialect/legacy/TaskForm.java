package dev.parley.dialect.legacy;

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
import org.jspecify.annotations.Nullable;

/**
 * Another form of the tasks of an agent.
 *
 * @param name the id of the task; null for its own
 * @param part the form of its parts; null for their own
 */
public record TaskForm(@Nullable String name, @Nullable PartForm part) {
    /** Another form of a part, which an artifact or message of that id holds in the given place. */
    @FunctionalInterface
    public interface PartForm {
        Part of(String taskId, String holder, int index, Part part);
    }

    /** An event, or an answer, in this form. */
    public TaskEvent of(TaskEvent event) {
        return switch (event) {
            case Message answer -> name == null ? answer : answer.in(answer.contextId(), name);
            case Task(var id, var context, var status, var artifacts, var history, var metadata, var generation) ->
                new Task(
                        name(id),
                        context,
                        of(id, status),
                        artifacts.stream().map(one -> of(id, one)).toList(),
                        history.stream().map(one -> of(id, one)).toList(),
                        metadata);
            case TaskStatusUpdateEvent(var id, var context, var status, var metadata) ->
                new TaskStatusUpdateEvent(name(id), context, of(id, status), metadata);
            case TaskArtifactUpdateEvent(var id, var context, var artifact, var append, var last, var metadata) ->
                new TaskArtifactUpdateEvent(name(id), context, of(id, artifact), append, last, metadata);
        };
    }

    private String name(String taskId) {
        return name == null ? taskId : name;
    }

    private TaskStatus of(String taskId, TaskStatus status) {
        Message message = status.message();
        return message == null ? status : new TaskStatus(status.state(), of(taskId, message), status.timestamp());
    }

    private Message of(String taskId, Message message) {
        return part == null ? message : message.withParts(of(part, taskId, message.messageId(), message.parts()));
    }

    private Artifact of(String taskId, Artifact artifact) {
        return part == null ? artifact : artifact.withParts(of(part, taskId, artifact.artifactId(), artifact.parts()));
    }

    private static List<Part> of(PartForm form, String taskId, String holder, List<Part> parts) {
        return IntStream.range(0, parts.size())
                .mapToObj(index -> form.of(taskId, holder, index, parts.get(index)))
                .toList();
    }
}
