package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubTasks;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import dev.parley.protocol.support.LruMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Rows of lists of tasks, from the head of a task and a few of its events. Safe for any thread. */
final class TaskViews {
    /** Newest events that are read for the status. */
    private static final int NEWEST = 32;

    private static final int TITLE = 120;
    private static final int STATUS = 200;
    private static final String PROGRESS = "progress";

    /** Some 600 bytes each. */
    private static final int MOST_SUMMARIES = 20_000;

    private final HubTasks tasks;
    private final ReentrantLock lock = new ReentrantLock();
    /** A task that was written once is read and parsed whole for its summary, artifacts included. */
    private final Map<TaskKey, Summary> summaries = new LruMap<>(MOST_SUMMARIES);

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
                summary.title(),
                summary.status(),
                summary.progress(),
                head.lastSequence(),
                summary.artifacts());
    }

    /** Summary of a task; empty for one whose events cannot be read. */
    private Summary summary(Head head) {
        Summary kept = kept(head.key());
        if (kept != null && kept.sequence() >= head.lastSequence()) {
            return kept;
        }
        try {
            Summary summary = read(head, kept);
            keep(head.key(), summary);
            return summary;
        } catch (DamagedTaskException damaged) {
            return Summary.EMPTY;
        }
    }

    private Summary read(Head head, @Nullable Summary kept) {
        var texts = new Texts();
        long after = Math.max(0, head.lastSequence() - NEWEST);
        if (after > 0 && kept != null) {
            texts.begin(kept);
            after = Math.max(after, kept.sequence());
        } else if (after > 0) {
            tasks.read(head.key(), 0, 1).forEach(texts::add);
            texts.isCut = true;
        }
        tasks.read(head.key(), after, NEWEST).forEach(texts::add);
        return texts.summary(head.lastSequence());
    }

    private @Nullable Summary kept(TaskKey task) {
        lock.lock();
        try {
            return summaries.get(task);
        } finally {
            lock.unlock();
        }
    }

    private void keep(TaskKey task, Summary summary) {
        lock.lock();
        try {
            summaries.put(task, summary);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Texts and numbers of the events of a task.
     *
     * @param sequence number of the newest of them
     * @param artifacts null if not all events were read
     */
    private record Summary(
            long sequence,
            @Nullable String title,
            @Nullable String status,
            @Nullable Integer progress,
            @Nullable Integer artifacts) {
        private static final Summary EMPTY = new Summary(0, null, null, null, null);
    }

    /** Collects a summary. */
    private static final class Texts {
        private final Set<String> artifacts = new HashSet<>();
        private @Nullable String title;
        private @Nullable String status;
        private @Nullable Integer progress;
        private boolean isCut;

        /** Begins with the summary of the events before. */
        void begin(Summary before) {
            title = before.title();
            status = before.status();
            progress = before.progress();
            isCut = true;
        }

        Summary summary(long sequence) {
            return new Summary(sequence, title, status, progress, isCut ? null : (Integer) artifacts.size());
        }

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
    }
}
