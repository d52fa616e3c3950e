package dev.parley.engine.tasks;

import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One reader of a task: optionally the snapshot first, then every public event after it.
 *
 * <p>Reads from memory while it is near the end of the log and from the store when it is behind, so that a slow reader
 * delays only itself.
 */
public final class TaskReader implements Feed<LoggedEvent>, LiveTask.Reader {
    private final TaskLog log;
    private final UnaryOperator<Task> view;
    /** Another one after a refusal of events of this engine, because the task goes on at another one. */
    private volatile Pin pin;

    private final AtomicBoolean open = new AtomicBoolean(true);
    private boolean untilSettled;
    private @Nullable LoggedEvent snapshot;
    private long position;

    /**
     * @param position the number of the last event not to be seen; -1 for a task that may be answered with a message
     * @param view how tasks in the stream are shown
     * @param pin of the task that is read; this reader closes it
     */
    public TaskReader(Pin pin, TaskLog log, long position, UnaryOperator<Task> view) {
        this.pin = pin;
        this.log = log;
        this.position = position;
        this.view = view;
    }

    /** A reader that begins with the task as it stands. */
    public static TaskReader fromSnapshot(Pin pin, TaskLog log, UnaryOperator<Task> view) {
        return fromSnapshot(pin, log, null, view);
    }

    /**
     * A reader that begins with the task as it stood.
     *
     * @param past the task after the event with that number; null for the task as it stands
     */
    public static TaskReader fromSnapshot(Pin pin, TaskLog log, @Nullable LoggedEvent past, UnaryOperator<Task> view) {
        LoggedEvent snapshot = past != null && past.event() instanceof Task task
                ? new LoggedEvent(past.sequence(), view.apply(task))
                : pin.task().snapshot(view);
        var reader = new TaskReader(pin, log, snapshot.sequence(), view);
        reader.snapshot = snapshot;
        return reader;
    }

    /**
     * Ends this reader with the event after which a blocking send would return: the task has ended, or waits for its caller
     * with no other message to read.
     *
     * <p>Source: A2A specification 1.0, section 11.7.
     */
    public TaskReader untilSettled() {
        untilSettled = true;
        return this;
    }

    /** True if this reader has nothing to wait for: its snapshot is that of a task that has ended. */
    public boolean startsAtTheEnd() {
        LoggedEvent first = snapshot;
        return first != null
                && first.event() instanceof Task task
                && task.state().isTerminal();
    }

    @Override
    public boolean isOpen() {
        return open.get();
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        LoggedEvent first = snapshot;
        if (first != null) {
            snapshot = null;
            return upToTheQuestion(List.of(first));
        }
        if (!open.get()) {
            return null;
        }
        while (true) {
            switch (find(patience)) {
                case Found.Nothing nothing -> {
                    return List.of();
                }
                case Found.End end -> {
                    close();
                    return null;
                }
                case Found.Behind behind -> {
                    List<LoggedEvent> shown = advance(written());
                    if (!shown.isEmpty()) {
                        return upToTheQuestion(shown);
                    }
                }
                case Found.Events(List<LoggedEvent> events) -> {
                    List<LoggedEvent> shown = advance(events);
                    if (!shown.isEmpty()) {
                        return upToTheQuestion(shown);
                    }
                }
            }
        }
    }

    private Found find(Duration patience) throws InterruptedException {
        while (true) {
            try {
                return pin.task().find(this, position, patience);
            } catch (A2AException refusal) {
                if (!Refused.isOfOtherOwner(refusal)) {
                    throw refusal;
                }
                Pin before = pin;
                Pin renewed = before.renewed();
                pin = renewed;
                before.task().leave(this);
                before.close();
                if (!open.get()) { // closed meanwhile, maybe without this pin
                    renewed.close();
                }
            }
        }
    }

    /** Reads the next events from the log, as far as the task in memory has them, too: whether one settles the task is asked there. */
    private List<LoggedEvent> written() {
        LiveTask live = pin.task();
        long last = live.written();
        return log.read(live.key(), Math.max(position, 0), LiveTask.MAX_PENDING).stream()
                .filter(event -> event.sequence() <= last)
                .toList();
    }

    /** Closes this reader at the first event that settles the task, if it goes no further, and drops what comes after it. */
    private List<LoggedEvent> upToTheQuestion(List<LoggedEvent> events) {
        if (!untilSettled) {
            return events;
        }
        for (int i = 0; i < events.size(); i++) {
            if (asks(events.get(i).event())) {
                close();
                return events.subList(0, i + 1);
            }
        }
        return events;
    }

    private boolean asks(TaskEvent event) {
        TaskState state = switch (event) {
            case Task task -> task.state();
            case TaskStatusUpdateEvent update -> update.status().state();
            case Message message -> null;
            case TaskArtifactUpdateEvent update -> null;
        };
        return state != null && state.isInterrupted() && pin.task().runs().isSettled(state);
    }

    private List<LoggedEvent> advance(List<LoggedEvent> events) {
        if (events.isEmpty()) {
            LiveTask live = pin.task();
            if (log.find(live.key()).isEmpty()) { // removed between the look at the memory and the reading
                throw A2AException.taskNotFound(live.key().taskId());
            }
            throw new DamagedTaskException(live.key().taskId(), "it has no events after " + position);
        }
        boolean answer = events.getFirst().sequence() == 0;
        position = events.getLast().sequence();
        if (answer) {
            return events;
        }
        var shown = new ArrayList<LoggedEvent>(events.size());
        for (LoggedEvent event : events) {
            if (event.event().isPublic()) {
                shown.add(event.event() instanceof Task task ? viewed(event, task) : event);
            }
        }
        return shown;
    }

    @SuppressWarnings("ReferenceEquality") // a task shown as it is keeps the bytes that it has been encoded to
    private LoggedEvent viewed(LoggedEvent event, Task task) {
        Task shown = view.apply(task);
        return shown == task ? event : new LoggedEvent(event.sequence(), shown);
    }

    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            Pin last = pin;
            last.task().leave(this);
            last.close();
        }
    }
}
