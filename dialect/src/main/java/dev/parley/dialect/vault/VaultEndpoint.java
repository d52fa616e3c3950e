package dev.parley.dialect.vault;

import dev.parley.dialect.legacy.LegacyEndpoint;
import dev.parley.dialect.legacy.Reworded;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.ArrayList;
import java.util.List;

/** An agent as clients of AgentVault expect it: ended tasks can be watched, and addresses stand in the place of bytes. */
final class VaultEndpoint implements AgentEndpoint {
    /** Returns the address of a part, which its artifact or message holds in the given place. */
    @FunctionalInterface
    interface Links {
        String of(String taskId, String holder, int index);
    }

    private final AgentEndpoint agent;
    private final Links links;

    VaultEndpoint(AgentEndpoint agent, Links links) {
        // The one field with a URL is called webhookUrl here.
        this.agent = new Reworded(agent, field -> field.equals("url") ? "webhookUrl" : field, text -> text);
        this.links = links;
    }

    @Override
    @SuppressWarnings("unchecked") // a task stays a task
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        R result = agent.call(operation, context);
        return result instanceof Task task ? (R) linked(task) : result;
    }

    @Override
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return operation instanceof Operation.TaskWatch watch
                ? (Feed<E>) LegacyEndpoint.open(agent, watch, context)
                        .as(event -> new LoggedEvent(event.sequence(), linked(event.event())))
                : agent.watch(operation, context);
    }

    private TaskEvent linked(TaskEvent event) {
        return switch (event) {
            case Task task -> linked(task);
            case Message message -> message;
            case TaskStatusUpdateEvent(var id, var context, var status, var metadata) ->
                new TaskStatusUpdateEvent(id, context, linked(id, status), metadata);
            case TaskArtifactUpdateEvent(var id, var context, var artifact, var append, var last, var metadata) ->
                new TaskArtifactUpdateEvent(id, context, linked(id, artifact), append, last, metadata);
        };
    }

    private Task linked(Task task) {
        String id = task.id();
        List<Artifact> artifacts =
                task.artifacts().stream().map(one -> linked(id, one)).toList();
        List<Message> history =
                task.history().stream().map(one -> linked(id, one)).toList();
        return new Task(id, task.contextId(), linked(id, task.status()), artifacts, history, task.metadata());
    }

    private TaskStatus linked(String taskId, TaskStatus status) {
        Message message = status.message();
        return message == null ? status : new TaskStatus(status.state(), linked(taskId, message), status.timestamp());
    }

    private Artifact linked(String taskId, Artifact artifact) {
        return artifact.withParts(linked(taskId, artifact.artifactId(), artifact.parts()));
    }

    private Message linked(String taskId, Message message) {
        return message.withParts(linked(taskId, message.messageId(), message.parts()));
    }

    private List<Part> linked(String taskId, String holder, List<Part> parts) {
        var linked = new ArrayList<Part>(parts.size());
        for (Part part : parts) {
            linked.add(
                    part instanceof Part.Raw(var bytes, var name, var type, var metadata)
                            ? new Part.Url(links.of(taskId, holder, linked.size()), name, type, metadata)
                            : part);
        }
        return linked;
    }
}
