package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
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
        this.agent = agent;
        this.links = links;
    }

    @Override
    @SuppressWarnings("unchecked") // a task stays a task
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        R result;
        try {
            result = agent.call(operation, context);
        } catch (A2AException refused) {
            throw named(refused);
        }
        return result instanceof Task task ? (R) linked(task) : result;
    }

    /** The one field with a URL is called webhookUrl here. */
    private static A2AException named(A2AException refused) {
        return refused.inWords(field -> field.equals("url") ? "webhookUrl" : field, text -> text);
    }

    @Override
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return operation instanceof Operation.TaskWatch watch
                ? (Feed<E>) new MappedStream(LegacyEndpoint.open(agent, watch, context), this::linked)
                : agent.watch(operation, context);
    }

    private TaskEvent linked(TaskEvent event) {
        return switch (event) {
            case Task task -> linked(task);
            case Message message -> message;
            case TaskStatusUpdateEvent update ->
                new TaskStatusUpdateEvent(
                        update.taskId(),
                        update.contextId(),
                        linked(update.taskId(), update.status()),
                        update.metadata());
            case TaskArtifactUpdateEvent update ->
                new TaskArtifactUpdateEvent(
                        update.taskId(),
                        update.contextId(),
                        linked(update.taskId(), update.artifact()),
                        update.append(),
                        update.lastChunk(),
                        update.metadata());
        };
    }

    private Task linked(Task task) {
        return new Task(
                task.id(),
                task.contextId(),
                linked(task.id(), task.status()),
                task.artifacts().stream().map(one -> linked(task.id(), one)).toList(),
                task.history().stream().map(one -> linked(task.id(), one)).toList(),
                task.metadata());
    }

    private TaskStatus linked(String taskId, TaskStatus status) {
        Message message = status.message();
        return message == null ? status : new TaskStatus(status.state(), linked(taskId, message), status.timestamp());
    }

    private Artifact linked(String taskId, Artifact artifact) {
        return new Artifact(
                artifact.artifactId(),
                artifact.name(),
                artifact.description(),
                linked(taskId, artifact.artifactId(), artifact.parts()),
                artifact.metadata(),
                artifact.extensions());
    }

    private Message linked(String taskId, Message message) {
        return new Message(
                message.messageId(),
                message.role(),
                linked(taskId, message.messageId(), message.parts()),
                message.contextId(),
                message.taskId(),
                message.metadata(),
                message.extensions(),
                message.referenceTaskIds());
    }

    private List<Part> linked(String taskId, String holder, List<Part> parts) {
        var linked = new ArrayList<Part>(parts.size());
        for (Part part : parts) {
            linked.add(
                    part instanceof Part.Raw raw
                            ? new Part.Url(
                                    links.of(taskId, holder, linked.size()),
                                    raw.filename(),
                                    raw.mediaType(),
                                    raw.metadata())
                            : part);
        }
        return linked;
    }
}
