package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.scheduling.Guarded;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.scheduling.TimeLimits;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One task in memory: its emitted events, those on disk, and its waiting readers.
 *
 * <p>There are two folds. {@code ahead} has everything emitted and decides what may come next, so agents need not wait
 * for the disk. {@code durable} has the written events, and is the only one that callers, streams and webhooks see. The
 * events between them wait in {@code pending}, then travel to the log as one segment.
 *
 * <p>A new task may never exist outside, because its agent answers with a message; until its first emission it
 * has no events and only its sender knows it.
 *
 * <p>Safe for any thread. The lock is never held during I/O.
 */
public final class LiveTask implements TaskLog.Writer {
    /**
     * An agent that is this many events, or bytes, ahead of the disk waits for it. No segment is larger, so a reader of as
     * many events decodes each segment once.
     */
    public static final int MAX_PENDING = Draft.MAX_EVENTS;

    private final TaskKey key;
    private final String contextId;
    private final EngineParts engine;
    private final ReentrantLock lock;
    private final Condition changed;
    private final Condition room;

    private volatile @Nullable Task ahead;
    private volatile long emitted;
    private boolean queued;
    private final Draft pending = new Draft();
    private final ReservedSpace space;

    /** The ids of the task's webhooks, of those too that are yet to be written. */
    private final Set<String> webhookIds = new HashSet<>();

    private volatile Cause cause;
    /** Segments that were taken and are yet to be written, by the numbers of their last events. */
    private final TreeMap<Long, Taken> inFlight = new TreeMap<>();

    private volatile @Nullable Task durable;
    private volatile long written;
    /** Whether the first segment had the task's end. */
    private volatile boolean writtenOnce;

    private final Tail tail = new Tail();

    private volatile @Nullable Message answer;
    private volatile @Nullable A2AException broken;
    private final RunQueue runs;
    private volatile int weight = 1_000;

    /** Uses of this object that need it to stay the only one for its task. */
    final AtomicInteger pins = new AtomicInteger();

    /** Whether another engine may write to the task. The copy in memory may be stale then. */
    private volatile boolean isForeign;

    /** True if webhooks wait for new events. */
    private volatile boolean watched;

    /** A segment on its way to the log: the task as it stands after it, and the bytes that are reserved for it. */
    private record Taken(Task after, long space) {}

    /** A reader of this task's events. */
    public interface Reader {
        boolean isOpen();
    }

    /** The parts of an engine that its tasks use. */
    public record EngineParts(
            TaskLog log, Threads threads, TimeLimits limits, BooleanSupplier stopped, TaskListener listener) {}

    /** A task that is yet to begin. */
    public LiveTask(TaskKey key, String contextId, EngineParts engine) {
        this(key, contextId, false, engine);
    }

    private LiveTask(TaskKey key, String contextId, boolean held, EngineParts engine) {
        this.key = key;
        this.cause = new Cause(key.scope().owner(), "", null, CallChain.NONE);
        this.contextId = contextId;
        this.engine = engine;
        this.lock = engine.threads().lock();
        this.changed = lock.newCondition();
        this.room = lock.newCondition();
        this.space = new ReservedSpace(engine.log().space(key.scope().group()));
        this.runs = new RunQueue(this, lock, held);
    }

    /**
     * A task that the log holds already, as {@code task} stands after its event number {@code sequence}.
     *
     * @param held whether it is yet to be taken up
     */
    public LiveTask(TaskKey key, Task task, long sequence, boolean held, EngineParts engine) {
        this(key, task.contextId(), held, engine);
        this.ahead = task;
        this.durable = task;
        this.emitted = sequence;
        this.written = sequence;
        this.weight = 1_000 + Weight.of(task);
        boolean mayMove = held ? task.state().isInterrupted() : !task.state().isTerminal();
        this.isForeign = mayMove && engine.log().once() == Once.CLAIM;
    }

    public TaskKey key() {
        return key;
    }

    /** Sets the cause of further events. */
    public void causedBy(Cause caller) {
        cause = caller;
    }

    /** The runs of the agent for this task. */
    public RunQueue runs() {
        return runs;
    }

    public String contextId() {
        return contextId;
    }

    /** The task as it is on disk; null before its first event is. */
    @Nullable
    public Task durable() {
        return durable;
    }

    /** The task with everything emitted; null before its first emission. */
    @Nullable
    public Task ahead() {
        return ahead;
    }

    /** Roughly how many bytes this takes. */
    int weight() {
        return weight;
    }

    /**
     * Emits what {@code decide} makes of the task as it stands (null before its beginning), all of it or nothing.
     *
     * @return the number of the newest event
     * @throws TaskEndedException if the task has ended, or the answer was a message; nothing was emitted
     * @throws A2AException if the log has failed
     */
    public long emit(Decision decide) {
        boolean submit = false;
        long last;
        lock.lock();
        try {
            while (pending.isFull() && broken == null) {
                room.awaitUninterruptibly();
            }
            if (broken != null) {
                throw broken;
            }
            List<TaskEvent> events = decide.events(ahead);
            if (answer != null && !events.isEmpty()) {
                throw new TaskEndedException(key.taskId(), TaskState.COMPLETED);
            }
            Task next = ahead;
            for (TaskEvent event : events) {
                next = event.applyTo(next);
            }
            if (next != null && next.state().isInterrupted() && runs.hasMail()) {
                TaskEvent goesOn = RunQueue.goesOn(next);
                events = Stream.concat(events.stream(), Stream.of(goesOn)).toList();
                next = goesOn.applyTo(next);
            }
            last = emitted;
            int more = 0;
            for (TaskEvent event : events) {
                int bytes = Weight.of(event);
                pending.add(new LoggedEvent(++last, event), bytes);
                more += bytes;
            }
            ahead = next;
            emitted = last;
            int before = weight;
            weight = before + more;
            space.use(events);
            if (!queued && !pending.isEmpty()) {
                queued = true;
                submit = true;
            }
        } catch (RuntimeException refused) {
            space.giveBack();
            throw refused;
        } finally {
            lock.unlock();
        }
        if (submit) {
            engine.log().submit(this);
        }
        return last;
    }

    /**
     * Reserves space in the quota of the group for events that are to be emitted.
     *
     * @throws A2AException QUOTA_EXCEEDED if they do not fit; nothing is reserved then
     */
    public void reserve(List<TaskEvent> more) {
        if (space.isLimited()) {
            long bytes = StoredSize.of(more);
            Guarded.change(lock, () -> space.take(bytes));
        }
    }

    /** Gives back space that was reserved for events that are not emitted. */
    public void giveBackSpace() {
        if (space.isLimited()) {
            Guarded.change(lock, space::giveBack);
        }
    }

    /**
     * Returns the limit that the task exceeds with {@code more}; null for none. Its end is never one event
     * too many. Called under the task's lock.
     *
     * @param task as it stands; its beginning, if that comes with {@code more}
     */
    @Nullable
    public String excess(Task task, List<TaskEvent> more, int mostEvents, long mostBytes) {
        long events = ahead == null ? 1 : emitted;
        long bytes = ahead == null ? weight + Weight.of((TaskEvent) task) : weight;
        return Weight.excess(events, bytes, more, mostEvents, mostBytes);
    }

    /** Decides what to emit, seeing the task with everything emitted so far. Called under the task's lock. */
    @FunctionalInterface
    public interface Decision {
        List<TaskEvent> events(@Nullable Task task);
    }

    /** Has the next segment say that {@code message} led to this task. */
    public void answersFor(MessageKey message) {
        Guarded.change(lock, () -> pending.add(message));
    }

    /**
     * Notes a webhook of this task.
     *
     * @return false if the task has {@code most} others
     */
    public boolean watchedBy(String webhookId, int most) {
        return Guarded.by(lock, () -> {
            if (webhookIds.size() >= most && !webhookIds.contains(webhookId)) {
                return false;
            }
            webhookIds.add(webhookId);
            watched = true;
            return true;
        });
    }

    /** Notes that a webhook of this task is gone. */
    public void unwatchedBy(String webhookId) {
        Guarded.change(lock, () -> webhookIds.remove(webhookId));
    }

    public boolean isWatched() {
        return watched;
    }

    /** Has the next segment bring a webhook that {@link #watchedBy} has noted. */
    public void bring(Subscription webhook) {
        Guarded.change(lock, () -> pending.add(webhook));
    }

    /** Has the next segment say what callers call this task. */
    public void named(Naming naming) {
        Guarded.change(lock, () -> pending.name(naming));
    }

    /** The name that the next segment will say; null if none. */
    @Nullable
    public Naming naming() {
        return pending.name();
    }

    /**
     * Answers with a message instead of a task, unless the task exists already; says which.
     *
     * @throws TaskEndedException if there is an answer already
     */
    public boolean answer(Message message) {
        return Guarded.by(lock, () -> {
            if (answer != null) {
                throw new TaskEndedException(key.taskId(), TaskState.COMPLETED);
            }
            if (ahead != null) {
                return false;
            }
            answer = message;
            changed.signalAll();
            return true;
        });
    }

    /** True if the agent has answered with a message: there is and will be no task. */
    public boolean isAnswered() {
        return answer != null;
    }

    /** Wakes all waiting threads, after a change of state outside this object that they also check. */
    public void wake() {
        Guarded.change(lock, changed::signalAll);
    }

    /**
     * Waits until the task on disk satisfies {@code enough} at or after event {@code since}.
     *
     * @return the message that is the whole answer, or the task, or null when {@code patience} has run out
     */
    @Nullable
    public TaskEvent await(long since, Predicate<Task> enough, Duration patience) throws InterruptedException {
        return await(patience, () -> {
            if (answer != null) {
                return answer;
            }
            if (broken != null) {
                throw broken;
            }
            Task task = durable;
            return task != null && written >= since && enough.test(task) ? task : null;
        });
    }

    /** Returns what {@code search} finds now, or after a change; null if {@code patience} runs out. */
    private <T> @Nullable T await(Duration patience, Supplier<@Nullable T> search) throws InterruptedException {
        TimeLimits.Limit limit = null;
        lock.lockInterruptibly();
        try {
            while (true) {
                T found = search.get();
                if (found != null) {
                    return found;
                }
                if (engine.stopped().getAsBoolean()) { // a stopped engine writes no further events
                    throw Refused.stopping();
                }
                if (limit == null && patience.isPositive()) {
                    limit = engine.limits().in(patience, this::wake);
                } else if (limit == null || limit.isReached()) {
                    return null;
                }
                changed.await();
            }
        } finally {
            lock.unlock();
            if (limit != null) {
                limit.drop();
            }
        }
    }

    /** Waits for events after {@code position}, at most for {@code patience} and while {@code reader} is open. */
    public Found find(Reader reader, long position, Duration patience) throws InterruptedException {
        Found found = await(patience, () -> look(reader, position));
        return found == null ? new Found.Nothing() : found;
    }

    /** Returns null if there is nothing yet. */
    private @Nullable Found look(Reader reader, long position) {
        if (!reader.isOpen()) {
            return new Found.End();
        }
        tail.enter(reader);
        if (written > Math.max(position, 0)) {
            List<LoggedEvent> events = tail.after(position);
            return events == null ? new Found.Behind() : new Found.Events(events);
        }
        if (answer != null) {
            return position < 0 ? new Found.Events(List.of(new LoggedEvent(0, answer))) : new Found.End();
        }
        if (broken != null) {
            throw broken;
        }
        Task task = durable;
        return task != null && task.state().isTerminal() ? new Found.End() : null;
    }

    /** Removes a reader that is closed, and wakes it. */
    public void leave(Reader reader) {
        Guarded.change(lock, () -> {
            tail.leave(reader);
            changed.signalAll();
        });
    }

    /** Returns the task as it is on disk, as an event with the number of the newest event that it includes. */
    LoggedEvent snapshot(UnaryOperator<Task> view) {
        return Guarded.by(lock, () -> {
            Task task = requireNonNull(durable, "nothing of the task is written");
            return new LoggedEvent(written, view.apply(task));
        });
    }

    /** The number of the newest event. */
    public long emitted() {
        return emitted;
    }

    /** The number of the newest event on disk. */
    public long written() {
        return written;
    }

    @Override
    public String group() {
        return key.scope().group();
    }

    @Override
    public @Nullable Segment take() {
        lock.lock();
        try {
            queued = false;
            Task task = ahead;
            if (task == null || pending.isEmpty()) {
                return null; // what was submitted is gone: a segment before it failed
            }
            Map.Entry<Long, Taken> newest = inFlight.lastEntry();
            Task before = newest == null ? durable : newest.getValue().after;
            var head = new Head(
                    key, contextId, task.state(), requireNonNull(task.status().timestamp()), emitted);
            inFlight.put(emitted, new Taken(task, space.passOn()));
            Segment segment = pending.take(head, cause, before == null ? null : before.state());
            room.signalAll();
            return segment;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void written(Segment segment) {
        Guarded.change(lock, () -> {
            writtenOnce = written == 0 && segment.head().state().isTerminal();
            Taken taken = inFlight.remove(segment.head().lastSequence());
            if (taken != null) {
                durable = taken.after;
                space.giveBack(taken.space);
            }
            written = segment.head().lastSequence();
            // Any engine may get the message that a task waits for.
            isForeign =
                    engine.log().once() == Once.CLAIM && segment.head().state().isInterrupted();
            tail.add(segment.events());
            changed.signalAll();
        });
        engine.listener().written(this, segment);
    }

    /**
     * Whether another engine may write to the task. False from the commit of a segment by which this engine runs the task. The copy of a foreign
     * task dates from the latest {@link #follow}. Takes no lock.
     */
    public boolean isForeign() {
        return isForeign;
    }

    /** Has the task wait until it is taken up by this engine, which owns it; false if a run of it goes on. */
    public boolean hold() {
        return Guarded.by(lock, () -> {
            Task task = durable;
            boolean isHeld = runs.hold(emitted == written);
            if (isHeld && task != null && !task.state().isSettled()) {
                isForeign = false;
            }
            return isHeld;
        });
    }

    /**
     * Adds events that another engine has written, in order, and interrupts a run that goes on here, since the task goes on there. Those that are here already, those that follow a gap, and all while this
     * engine writes to the task itself, are left out.
     */
    void follow(List<LoggedEvent> events) {
        RunQueue.Run superseded = null;
        lock.lock();
        try {
            for (LoggedEvent event : events) {
                if (isForeign && emitted == written && event.sequence() == written + 1) {
                    Task next = event.event().applyTo(durable);
                    durable = next;
                    ahead = next;
                    written = event.sequence();
                    emitted = written;
                    int bytes = weight;
                    weight = bytes + Weight.of(event.event());
                    tail.add(List.of(event));
                    isForeign = !next.state().isTerminal();
                    superseded = runs.supersede();
                    changed.signalAll();
                }
            }
        } finally {
            lock.unlock();
        }
        if (superseded != null) {
            superseded.interrupt();
        }
    }

    @Override
    public void failed(Segment segment, Exception cause) {
        engine.listener().refuses(this, segment, cause);
        var lostMessages = new ArrayList<>(segment.messages());
        var lostNames = new ArrayList<>(Draft.namesIn(segment.naming()));
        lock.lock();
        try {
            lostMessages.addAll(pending.messages());
            lostNames.addAll(Draft.namesIn(pending.name()));
            pending.drop();
            // The emitted events will never be on disk: the fold returns to the state that callers have seen.
            ahead = durable;
            broken = Refused.unwritten(cause);
            // Not those before it: when the log closes, it refuses new ones while it still writes the last.
            var lost = inFlight.tailMap(segment.head().lastSequence(), true);
            lost.values().forEach(taken -> space.giveBack(taken.space));
            lost.clear();
            space.giveBack(space.passOn());
            room.signalAll();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        engine.listener().refused(this, lostMessages, lostNames);
    }

    /** Marks this task as removed from memory, not to be written any more. Reads of it fail for {@code reason}. */
    void removed(A2AException reason) {
        Guarded.change(lock, () -> {
            broken = reason;
            room.signalAll();
            changed.signalAll();
        });
    }

    /** True if emitted events still wait for the disk. Takes no lock. */
    boolean isWriting() {
        return broken == null && written < emitted;
    }

    /** True if the task was written in one segment, with its end. Takes no lock. */
    boolean isWrittenOnce() {
        return writtenOnce;
    }

    /** True if the log refused this task's events; a new object has to be made from what it holds. Takes no lock. */
    public boolean isBroken() {
        return broken != null;
    }
}
