package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.extension.HubTasks;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rows of lists of tasks, from the head of a task and a few of its events. Safe for any thread. */
final class TaskViews {
    /** Newest events that are read for the status. */
    private static final int NEWEST = 32;

    private static final int TITLE = 120;
    private static final int STATUS = 200;
    private static final String PROGRESS = "progress";

    private final HubTasks tasks;

    TaskViews(HubTasks tasks) {
        this.tasks = tasks;
    }

    TaskView of(Listed task, boolean showsGroup) {
        Head head = task.head();
        Summary summary = summary(head);
        return new TaskView(
                head.key().taskId(),
                head.key().agent(),
                head.contextId(),
                head.state(),
                head.statusTime(),
                Ids.madeAt(head.key().taskId()),
                task.caller(),
                showsGroup ? head.key().scope().group() : null,
                summary.title,
                summary.status,
                summary.progress,
                head.lastSequence(),
                summary.artifacts());
    }

    /** Summary of a task; empty for one whose events cannot be read. */
    private Summary summary(Head head) {
        var summary = new Summary();
        try {
            long after = Math.max(0, head.lastSequence() - NEWEST);
            if (after > 0) {
                tasks.read(head.key(), 0, 1).forEach(summary::add);
                summary.isCut = true;
            }
            tasks.read(head.key(), after, NEWEST).forEach(summary::add);
        } catch (DamagedTaskException damaged) {
            summary.isCut = true;
        }
        return summary;
    }

    /** Texts and numbers of the events of a task. */
    private static final class Summary {
        private final Set<String> artifacts = new HashSet<>();
        private @Nullable String title;
        private @Nullable String status;
        private @Nullable Integer progress;
        private boolean isCut;

        void add(LoggedEvent logged) {
            TaskEvent event = logged.event();
            switch (event) {
                case Task task -> {
                    if (title == null && !task.history().isEmpty()) {
                        title = VisibleText.of(task.history().getFirst(), TITLE);
                    }
                    task.artifacts().forEach(artifact -> artifacts.add(artifact.artifactId()));
                    add(task.status(), task.metadata());
                }
                case TaskStatusUpdateEvent update -> add(update.status(), update.metadata());
                case TaskArtifactUpdateEvent update ->
                    artifacts.add(update.artifact().artifactId());
                case Message message -> {}
            }
        }

        private void add(TaskStatus newest, Map<String, @Nullable Object> metadata) {
            Message message = newest.message();
            String text = message == null ? null : VisibleText.of(message, STATUS);
            status = text == null ? status : text;
            if (metadata.get(PROGRESS) instanceof Number percent) {
                progress = percent.intValue();
            }
        }

        @Nullable
        Integer artifacts() {
            return isCut ? null : (Integer) artifacts.size();
        }
    }
}
