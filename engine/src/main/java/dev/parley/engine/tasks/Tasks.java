package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The tasks of an engine, in memory and in its log. Safe for any thread. */
public final class Tasks {
    /** The part of the heap, one in so many, that tasks may take which streams and agents hold in memory. */
    private static final int HEAP_SHARE_IN_USE = 4;

    /** Longest wait of a read for own events of a task to which another engine writes, too. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(4);

    private static final Logger LOG = System.getLogger("dev.parley.engine");

    private final TaskLog log;
    private final InstantSource clock;
    private final Duration longestWait;
    private final LiveTask.EngineParts parts;
    private final LiveTasks live;

    /** Facts about a task that is loaded. */
    public interface Origin {
        /** True if the task is yet to be taken up: messages to it wait. */
        boolean holds(TaskKey key);

        /** The ids of the task's webhooks. */
        List<String> webhooks(TaskKey key);
    }

    /**
     * @param longestWait of a call for its task
     * @param cacheBytes room for tasks that nothing happens to
     */
    public Tasks(
            InstantSource clock, Duration longestWait, long cacheBytes, LiveTask.EngineParts parts, Origin origin) {
        this.log = parts.log();
        this.clock = clock;
        this.longestWait = longestWait;
        this.parts = parts;
        this.live =
                new LiveTasks(cacheBytes, Runtime.getRuntime().maxMemory() / HEAP_SHARE_IN_USE, new LiveTasks.Loader() {
                    @Override
                    public @Nullable LiveTask load(TaskKey key) {
                        return loaded(key, origin);
                    }

                    @Override
                    public long newest(TaskKey key) {
                        return log.find(key).map(TaskLog.Head::lastSequence).orElse(0L);
                    }

                    @Override
                    public boolean refresh(LiveTask task) {
                        return refreshed(task);
                    }

                    @Override
                    public void follow(TaskKey key) {
                        log.follow(key);
                    }
                });
    }

    /**
     * Reads what another engine has written to a task; false if the log does not hold it any more. While this engine writes to the task
     * itself, waits until that is on disk or refused: the log has newer events than the copy, and only that tells whose they are. Drops
     * the copy if the events of the log do not continue it: the database may have lost events, and got others instead.
     */
    private boolean refreshed(LiveTask task) {
        TaskKey key = task.key();
        while (true) {
            long seen = task.written();
            TaskLog.Head head = log.find(key).orElse(null);
            if (head == null) {
                return false;
            }
            if (!task.isWriting() && head.lastSequence() < seen) {
                live.drop(task);
                return true;
            }
            if (task.isForeign() && task.isWriting() && task.written() < head.lastSequence()) {
                awaitOwn(task);
                continue;
            }
            if (!isBehind(task, head.lastSequence())) {
                return true;
            }
            long before = task.written();
            List<LoggedEvent> more = log.read(key, before, LiveTask.MAX_PENDING);
            try {
                task.follow(more);
            } catch (RuntimeException unfit) {
                live.drop(task);
                return true;
            }
            if (isBehind(task, before + 1)) { // or it was removed meanwhile
                live.drop(task);
                return true;
            }
        }
    }

    /** Waits until what this engine has emitted to a task is on disk or refused. */
    private static void awaitOwn(LiveTask task) {
        try {
            if (task.await(task.emitted(), any -> true, LONGEST_REST) == null) {
                throw A2AException.unavailable("The task is being written", Duration.ofSeconds(1));
            }
        } catch (A2AException refused) {
            if (!task.isBroken()) {
                throw refused;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw Refused.stopping();
        }
    }

    private static boolean isBehind(LiveTask task, long newest) {
        return task.isForeign() && !task.isWriting() && !task.isBroken() && task.written() < newest;
    }

    /** Brings all tasks that are in use here up to date that another engine may write to. */
    public void follow() {
        List<LiveTask> followed = live.followed();
        if (followed.isEmpty()) {
            return;
        }
        var known = new HashMap<TaskKey, Long>();
        for (LiveTask task : followed) {
            known.put(task.key(), task.written());
            log.follow(task.key());
        }
        Set<TaskKey> changed = Set.copyOf(log.changed(known));
        followed.stream().filter(task -> changed.contains(task.key())).forEach(this::refresh);
    }

    /** Forgets the tasks that other engines have erased, also if this one has not been told yet. */
    public void forgetErased() {
        if (log.once() == Once.CLAIM) {
            live.forget(known -> log.changed(known).stream()
                    .filter(task -> log.find(task).isEmpty())
                    .collect(Collectors.toSet()));
        }
    }

    /** Brings tasks up to date that have new events, if they are in use here. */
    public void hear(Set<String> ids) {
        live.followed().stream()
                .filter(task -> ids.contains(task.key().taskId()))
                .forEach(this::refresh);
    }

    private void refresh(LiveTask task) {
        if (task.isWriting()) {
            return; // the next look finds what others have written
        }
        try {
            live.refresh(task);
        } catch (DamagedTaskException failure) {
            LOG.log(Level.WARNING, "task " + task.key().taskId() + " cannot be followed", failure);
        } catch (RuntimeException failure) { // the others are read all the same, and this one again at the next look
            LOG.log(Level.DEBUG, "task " + task.key().taskId() + " could not be read", failure);
        }
    }

    private @Nullable LiveTask loaded(TaskKey key, Origin origin) {
        boolean held = origin.holds(
                key); // before it is read: one that is taken over in the middle may have been read too early
        Folded folded = folded(key).orElse(null);
        if (folded == null) {
            return null;
        }
        var task = new LiveTask(key, folded.task(), folded.sequence(), held, parts);
        origin.webhooks(key).forEach(id -> task.watchedBy(id, Integer.MAX_VALUE));
        return task;
    }

    /** A task that is yet to begin, pinned. */
    public Pin begin(TaskKey key, String contextId) {
        return live.pin(new LiveTask(key, contextId, parts));
    }

    /** The tasks in memory. */
    public LiveTasks live() {
        return live;
    }

    /**
     * Returns a task in memory, pinned.
     *
     * @throws A2AException TASK_NOT_FOUND if there is none in the key's scope
     */
    public Pin pinned(TaskKey key) {
        Pin pin = live.pin(key);
        if (pin == null) {
            throw A2AException.taskNotFound(key.taskId());
        }
        return pin;
    }

    /**
     * Reads a task, and keeps it in memory for the next time if there is room.
     *
     * @throws A2AException TASK_NOT_FOUND if there is no such task in the key's scope
     */
    public Task read(TaskKey key) {
        LiveTask present = live.peek(key);
        if (present == null) {
            try (Pin pin = pinIfRoom(key)) {
                present = pin == null ? null : pin.task();
            }
        }
        Task task = present == null ? null : present.durable();
        return task != null ? task : find(key).orElseThrow(() -> A2AException.taskNotFound(key.taskId()));
    }

    /** Returns a task in memory, pinned; null if there is none, or it is large and there is no room for it. */
    private @Nullable Pin pinIfRoom(TaskKey key) {
        try {
            return live.pin(key);
        } catch (A2AException full) {
            if (full.error() != A2AError.UNAVAILABLE) {
                throw full;
            }
            return null;
        }
    }

    /** Reads a task without keeping it in memory; empty if there is none. */
    public Optional<Task> find(TaskKey key) {
        LiveTask present = live.peek(key);
        Task task = present == null ? null : present.durable();
        return task != null ? Optional.of(task) : folded(key).map(Folded::task);
    }

    /** A task as the log has it, up to the event of that number. */
    public record Folded(Task task, long sequence) {}

    /** Reads a task; empty if there is none, also if it is removed in the middle. */
    private Optional<Folded> folded(TaskKey key) {
        try {
            return Optional.of(fold(log, key));
        } catch (DamagedTaskException incomplete) { // or not there
            if (log.find(key).isEmpty()) {
                return Optional.empty();
            }
            throw incomplete;
        }
    }

    /** @throws DamagedTaskException if the log holds no event of the task, or one that cannot be read */
    public static Folded fold(TaskLog log, TaskKey key) {
        Task task = null;
        long sequence = 0;
        List<LoggedEvent> events;
        do {
            events = log.read(key, sequence, LiveTask.MAX_PENDING);
            for (LoggedEvent event : events) {
                task = applied(key, event, task);
                sequence = event.sequence();
            }
        } while (events.size() >= LiveTask.MAX_PENDING);
        if (task == null || events.isEmpty() && log.find(key).isEmpty()) { // removed, maybe in the middle
            throw new DamagedTaskException(key.taskId(), "it has no events");
        }
        return new Folded(task, sequence);
    }

    private static Task applied(TaskKey key, LoggedEvent event, @Nullable Task before) {
        try {
            return event.event().applyTo(before).at(event.sequence());
        } catch (RuntimeException unfit) { // an earlier event is missing, or one was changed
            throw new DamagedTaskException(
                    key.taskId(), "event " + event.sequence() + " does not fit the events before it", unfit);
        }
    }

    /** Ends a task for its caller. */
    public Task cancel(TaskKey key, Map<String, @Nullable Object> metadata, CallContext context) {
        try (Pin pin = pinned(key)) {
            LiveTask task = pin.task();
            long canceled = task.emit(current -> {
                TaskState state = requireNonNull(current).state();
                if (state.isTerminal()) {
                    throw A2AException.of(
                            A2AError.TASK_NOT_CANCELABLE,
                            "The task has ended (" + state + ")",
                            Map.of("taskId", current.id()));
                }
                task.causedBy(cause(context));
                return List.of(new TaskStatusUpdateEvent(
                        current.id(), current.contextId(), TaskStatus.of(TaskState.CANCELED, now()), metadata));
            });
            RunQueue.Run running = task.runs().current();
            if (running != null) {
                running.cancel();
            }
            return written(task, canceled, context);
        }
    }

    /**
     * Waits until an event of a task is on disk, and returns the task.
     *
     * @throws A2AException UNAVAILABLE if the caller's time is over before: the task without the event would be no answer
     */
    public Task written(LiveTask task, long sequence, CallContext context) {
        try {
            TaskEvent event = task.await(sequence, any -> true, patience(context));
            if (event == null) {
                throw A2AException.unavailable("The task could not be written in time", Duration.ofSeconds(1));
            }
            return event instanceof Task written ? written : read(task.key());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw Refused.stopping();
        }
    }

    /** The origin of a change that a call makes. */
    public static Cause cause(CallContext context) {
        return new Cause(context.caller(), context.address(), context.traceparent(), context.chain());
    }

    /** Time that a call waits for its task. */
    public Duration patience(CallContext context) {
        Instant deadline = context.deadline();
        if (deadline == null) {
            return longestWait;
        }
        Duration left = Duration.between(clock.instant(), deadline);
        return left.compareTo(longestWait) < 0 ? left : longestWait;
    }

    public Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    public String newId() {
        return parts.threads().id(now());
    }
}
