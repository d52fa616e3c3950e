package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A unit of work: the fold of the events that happened to it.
 *
 * <p>As an event of a task's log it is the beginning: the task as it was created.
 *
 * <p>Source: A2A specification 1.0, section 4.1.1 "Task".
 *
 * @param id made by the server
 * @param history messages, oldest first
 * @param generation number of the newest event that this includes, from 1; 0 if it is not known. A preview of A2A 1.1, by which two tasks
 *     are not compared
 */
public record Task(
        String id,
        String contextId,
        TaskStatus status,
        List<Artifact> artifacts,
        List<Message> history,
        Map<String, @Nullable Object> metadata,
        long generation)
        implements SendResult, TaskEvent {
    /** Messages of the agent that the history keeps between two messages of the caller. */
    static final int MOST_NOTES = 100;

    public Task {
        requireNonNull(id, "id");
        requireNonNull(contextId, "contextId");
        requireNonNull(status, "status");
        artifacts = Lists.copy(artifacts);
        history = Lists.copy(history);
        metadata = Lists.copy(metadata);
        if (generation < 0) {
            throw InvalidField.of("generation", generation + " (expected: >= 0)");
        }
    }

    /** A task of which it is not known how many events it includes. */
    public Task(
            String id,
            String contextId,
            TaskStatus status,
            List<Artifact> artifacts,
            List<Message> history,
            Map<String, @Nullable Object> metadata) {
        this(id, contextId, status, artifacts, history, metadata, 0);
    }

    /** Returns this task as it stands after its event of that number; 0 if that is not known. */
    public Task at(long number) {
        return number == generation ? this : new Task(id, contextId, status, artifacts, history, metadata, number);
    }

    /** Whether the other one is the same task in the same condition, whatever the number of its newest event. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Task task
                && id.equals(task.id)
                && contextId.equals(task.contextId)
                && status.equals(task.status)
                && artifacts.equals(task.artifacts)
                && history.equals(task.history)
                && metadata.equals(task.metadata);
    }

    @Override
    public int hashCode() {
        return Objects.hash(id, contextId, status, artifacts, history, metadata);
    }

    /** The number of the next event, as far as that of the newest one is known. */
    private long next() {
        return generation == 0 ? 0 : generation + 1;
    }

    /** The state of {@link #status()}. */
    public TaskState state() {
        return status.state();
    }

    /** The text parts of all artifacts, one below the other; empty if there are none. */
    public String text() {
        var lines = new ArrayList<String>();
        for (Artifact artifact : artifacts) {
            for (Part part : artifact.parts()) {
                if (part instanceof Part.Text text) {
                    lines.add(text.text());
                }
            }
        }
        return String.join("\n", lines);
    }

    /**
     * This task as a caller asked to see it.
     *
     * @param historyLength at most so many of the newest messages; null means all
     */
    public Task view(@Nullable Integer historyLength, boolean withArtifacts) {
        int length = historyLength == null ? history.size() : Math.min(historyLength, history.size());
        if (length == history.size() && withArtifacts) {
            return this;
        }
        return new Task(
                id,
                contextId,
                status,
                withArtifacts ? artifacts : List.of(),
                history.subList(history.size() - length, history.size()),
                metadata,
                generation);
    }

    Task with(TaskStatusUpdateEvent update) {
        Message left = status.message();
        Message next = update.status().message();
        boolean keep = left != null && (next == null || !next.messageId().equals(left.messageId()));
        return new Task(
                id,
                contextId,
                update.status(),
                artifacts,
                keep ? withNote(requireNonNull(left)) : history,
                TaskEvent.merge(metadata, update.metadata()),
                next());
    }

    /** The history with a message that streams have shown as the status; without the oldest of those of the agent if there are too many. */
    private List<Message> withNote(Message note) {
        return note.role() == Role.AGENT
                ? Lists.appendBounded(history, note, MOST_NOTES, message -> message.role() == Role.AGENT)
                : Lists.append(history, List.of(note));
    }

    Task with(TaskArtifactUpdateEvent update) {
        Artifact artifact = update.artifact();
        for (int i = 0; i < artifacts.size(); i++) {
            if (artifacts.get(i).artifactId().equals(artifact.artifactId())) {
                var changed = new ArrayList<>(artifacts);
                changed.set(i, update.append() ? changed.get(i).append(artifact) : artifact);
                return new Task(id, contextId, status, changed, history, metadata, next());
            }
        }
        return new Task(id, contextId, status, Lists.append(artifacts, List.of(artifact)), history, metadata, next());
    }

    Task with(Message received) {
        return new Task(id, contextId, status, artifacts, Lists.append(history, List.of(received)), metadata, next());
    }
}
