package dev.parley.gateway.push;

import dev.parley.engine.Reply;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** State of a followed task as its webhooks know it. They get the differences only, so a task may be read again. For one thread. */
final class RelayedTask {
    private final Reply reply;
    private final Map<String, Artifact> artifacts = new HashMap<>();
    private TaskState state = TaskState.SUBMITTED;
    private List<Part> note = List.of();
    private boolean hasNews;

    /** @param known task of the hub with the earlier events; empty for none */
    RelayedTask(Optional<Task> known, Reply reply) {
        this.reply = reply;
        known.ifPresent(task -> {
            task.artifacts().forEach(artifact -> artifacts.put(artifact.artifactId(), artifact));
            state = task.state();
            note = parts(task.status());
        });
    }

    private static List<Part> parts(TaskStatus status) {
        Message message = status.message();
        return message == null ? List.of() : message.parts();
    }

    /** Returns whether something was emitted since the last call. */
    boolean hadNews() {
        boolean had = hasNews;
        hasNews = false;
        return had;
    }

    /**
     * Emits the differences of a task.
     *
     * @throws TaskEndedException if it has ended
     */
    void emit(Task task) {
        for (Artifact artifact : task.artifacts()) {
            Artifact known = artifacts.get(artifact.artifactId());
            if (known == null || !known.parts().equals(artifact.parts())) {
                emit(artifact, more(known, artifact), task.state().isTerminal());
            }
        }
        TaskStatus status = task.status();
        if (status.state() == TaskState.SUBMITTED
                || status.state() == state && parts(status).equals(note)) {
            return;
        }
        reply.move(status.state(), status.message(), Map.of());
        state = status.state();
        note = parts(status);
        hasNews = true;
        if (state.isTerminal()) {
            throw new TaskEndedException(task.id(), state);
        }
    }

    /** The parts after those that are known; null if others have changed. */
    private static @Nullable Artifact more(@Nullable Artifact known, Artifact now) {
        int size = known == null ? 0 : known.parts().size();
        return known != null
                        && size < now.parts().size()
                        && now.parts().subList(0, size).equals(known.parts())
                ? now.withParts(now.parts().subList(size, now.parts().size()))
                : null;
    }

    private void emit(Artifact artifact, @Nullable Artifact more, boolean last) {
        reply.artifact(more == null ? artifact : more, more != null, last);
        artifacts.put(artifact.artifactId(), artifact);
        hasNews = true;
    }
}
