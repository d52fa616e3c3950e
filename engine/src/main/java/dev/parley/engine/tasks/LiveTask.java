package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.scheduling.Limits;
import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.Space;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.TemporaryFailure;
import java.time.Duration;
import java.util.ArrayDeque;
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
    public static final int MAX_PENDING = 4_096;

    private static final int MAX_PENDING_BYTES = 4 << 20;
    /** Number of newest events in memory for readers, unless the only reader has read them. */
    private static final int TAIL = 1_024;

    private static final int EVENT_WEIGHT = 300;

    private final TaskKey key;
    private final String contextId;
    private final Surroundings engine;
    private final ReentrantLock lock;
    private final Condition changed;
    private final Condition room;

    private volatile @Nullable Task ahead;
    private volatile long emitted;
    private boolean queued;
    private List<LoggedEvent> pending = new ArrayList<>();
    private int pendingBytes;
    private final Space space;
    /** Reserved bytes of the pending events. */
    private long pendingSpace;
    /** Reserved bytes of events that are yet to be emitted. */
    private long spaceAhead;

    private List<MessageKey> messages = new ArrayList<>();
    private List<Subscription> webhooks = new ArrayList<>();
    /** The ids of the task's webhooks, of those too that are yet to be written. */
    private final Set<String> webhookIds = new HashSet<>();

    private volatile @Nullable TaskName name;
    private volatile Cause cause;
    /** Segments that were taken and are yet to be written, by the numbers of their last events. */
    private final TreeMap<Long, Taken> inFlight = new TreeMap<>();

    private volatile @Nullable Task durable;
    private volatile long written;
    /** Whether the first segment had the task's end. */
    private volatile boolean writtenOnce;

    private final ArrayDeque<LoggedEvent> tail = new ArrayDeque<>();
    /** Open readers that have looked for events. */
    private final Set<Reader> readers = new HashSet<>(2);

    private volatile @Nullable Message answer;
    private volatile @Nullable A2AException broken;
    private volatile @Nullable Run run;
    /** True while the task is yet to be taken up: its runs wait. */
    private boolean held;

    private final ArrayDeque<Run> mailbox = new ArrayDeque<>();
    private volatile int weight = 1_000;

    /** Uses of this object that need it to stay the only one for its task. */
    final AtomicInteger pins = new AtomicInteger();

    /** True if webhooks wait for new events. */
    private volatile boolean watched;

    /**
     * A segment on its way to the log.
     *
     * @param after the task as it stands after it
     * @param space reserved bytes
     */
    private record Taken(Task after, long space) {}

    /** A call of the agent for this task. */
    public interface Run {
        /** Tells the handler that its task has been canceled. */
        void cancel();

        /** Interrupts the handler, if it runs. */
        void interrupt();
    }

    /** A reader of this task's events. */
    public interface Reader {
        boolean isOpen();
    }

    /** Follows what becomes of the events of tasks. Called on the log's thread; must not block. */
    public interface Listener {
        /** A segment is on disk. */
        void written(LiveTask live, Segment segment);

        /** Called when the log has refused a segment, before any other thread can see that. */
        void refuses(LiveTask live, Segment segment);

        /**
         * The log has refused a segment, and with it all that was emitted behind it.
         *
         * @param messages messages that were to be answered for, and now are not
         * @param names names that the task was to get, and now does not
         */
        void refused(LiveTask live, List<MessageKey> messages, List<TaskName> names);
    }

    /** The parts of an engine that its tasks use. */
    public record Surroundings(
            TaskLog log, Threads threads, Limits limits, BooleanSupplier stopped, Listener listener) {}

    /** A task that is yet to begin. */
    public LiveTask(TaskKey key, String contextId, Surroundings engine) {
        this.key = key;
        this.cause = new Cause(key.scope().owner(), "", null, CallChain.NONE);
        this.contextId = contextId;
        this.engine = engine;
        this.lock = engine.threads().lock();
        this.changed = lock.newCondition();
        this.room = lock.newCondition();
        this.space = engine.log().space(key.scope().group());
    }

    /**
     * A task that the log holds already, as {@code task} stands after its event number {@code sequence}.
     *
     * @param held whether it is yet to be taken up
     */
    public LiveTask(TaskKey key, Task task, long sequence, boolean held, Surroundings engine) {
        this(key, task.contextId(), engine);
        this.held = held;
        this.ahead = task;
        this.durable = task;
        this.emitted = sequence;
        this.written = sequence;
        this.weight = 1_000 + weightOf(task);
    }

    public TaskKey key() {
        return key;
    }

    /** Sets the cause of further events. */
    public void causedBy(Cause caller) {
        cause = caller;
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
            while ((pending.size() >= MAX_PENDING || pendingBytes >= MAX_PENDING_BYTES) && broken == null) {
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
            if (next != null && next.state().isInterrupted() && !mailbox.isEmpty()) {
                // The next message is there already. On disk the task must not wait for its caller, or a crash would
                // lose it.
                TaskEvent goesOn = new TaskStatusUpdateEvent(
                        next.id(),
                        contextId,
                        new TaskStatus(TaskState.WORKING, null, next.status().timestamp()),
                        Map.of());
                events = Stream.concat(events.stream(), Stream.of(goesOn)).toList();
                next = goesOn.applyTo(next);
            }
            last = emitted;
            int more = 0;
            for (TaskEvent event : events) {
                pending.add(new LoggedEvent(++last, event));
                more += weightOf(event);
            }
            ahead = next;
            emitted = last;
            pendingBytes += more;
            int before = weight;
            weight = before + more;
            useSpace(events);
            if (!queued && !pending.isEmpty()) {
                queued = true;
                submit = true;
            }
        } catch (RuntimeException refused) {
            giveBack(spaceAhead);
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
            lock.lock();
            try {
                space.take(bytes);
                spaceAhead += bytes;
            } finally {
                lock.unlock();
            }
        }
    }

    /** Gives back space that was reserved for events that are not emitted. */
    public void giveBackSpace() {
        if (space.isLimited()) {
            lock.lock();
            try {
                giveBack(spaceAhead);
            } finally {
                lock.unlock();
            }
        }
    }

    private void giveBack(long bytes) {
        if (bytes > 0) {
            spaceAhead -= bytes;
            space.giveBack(bytes);
        }
    }

    /** Assigns the reserved space to pending events; takes more if it does not suffice. */
    private void useSpace(List<TaskEvent> events) {
        if (space.isLimited()) {
            long bytes = StoredSize.of(events);
            long ofReserved = Math.min(bytes, spaceAhead);
            spaceAhead -= ofReserved;
            space.force(bytes - ofReserved);
            pendingSpace += bytes;
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
        long bytes = ahead == null ? weight + weightOf((TaskEvent) task) : weight;
        for (TaskEvent event : more) {
            bytes += weightOf(event);
            if (event instanceof TaskStatusUpdateEvent moved
                    && moved.status().state().isTerminal()) {
                bytes -= EVENT_WEIGHT;
            } else {
                events++;
            }
        }
        if (events > mostEvents) {
            return events + " events (expected: at most " + mostEvents + ")";
        }
        return bytes > mostBytes ? bytes + " bytes (expected: at most " + mostBytes + ")" : null;
    }

    /** Decides what to emit, seeing the task with everything emitted so far. Called under the task's lock. */
    @FunctionalInterface
    public interface Decision {
        List<TaskEvent> events(@Nullable Task task);
    }

    /** Has the next segment say that {@code message} led to this task. */
    public void answersFor(MessageKey message) {
        lock.lock();
        try {
            messages.add(message);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Notes a webhook of this task.
     *
     * @return false if the task has {@code most} others
     */
    public boolean watchedBy(String webhookId, int most) {
        lock.lock();
        try {
            if (webhookIds.size() >= most && !webhookIds.contains(webhookId)) {
                return false;
            }
            webhookIds.add(webhookId);
            watched = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a webhook of this task is gone. */
    public void unwatchedBy(String webhookId) {
        lock.lock();
        try {
            webhookIds.remove(webhookId);
        } finally {
            lock.unlock();
        }
    }

    public boolean isWatched() {
        return watched;
    }

    /** Has the next segment bring a webhook that {@link #watchedBy} has noted. */
    public void bring(Subscription webhook) {
        lock.lock();
        try {
            webhooks.add(webhook);
        } finally {
            lock.unlock();
        }
    }

    /** Has the next segment say what callers call this task. */
    public void named(TaskName name) {
        lock.lock();
        try {
            this.name = name;
        } finally {
            lock.unlock();
        }
    }

    /** The name that the next segment will say; null if none. */
    @Nullable
    public TaskName name() {
        return name;
    }

    /**
     * Answers with a message instead of a task, unless the task exists already; says which.
     *
     * @throws TaskEndedException if there is an answer already
     */
    public boolean answer(Message message) {
        lock.lock();
        try {
            if (answer != null) {
                throw new TaskEndedException(key.taskId(), TaskState.COMPLETED);
            }
            if (ahead != null) {
                return false;
            }
            answer = message;
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** True if the agent has answered with a message: there is and will be no task. */
    public boolean isAnswered() {
        return answer != null;
    }

    /** Wakes all waiting threads, after a change of state outside this object that they also check. */
    public void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the task on disk satisfies {@code enough} at or behind event {@code since}.
     *
     * @return the message that is the whole answer, or the task, or null when {@code patience} has run out
     */
    @Nullable
    public TaskEvent await(long since, Predicate<Task> enough, Duration patience) throws InterruptedException {
        Limits.Limit limit = null;
        lock.lockInterruptibly();
        try {
            while (true) {
                if (answer != null) {
                    return answer;
                }
                if (broken != null) {
                    throw broken;
                }
                Task task = durable;
                if (task != null && written >= since && enough.test(task)) {
                    return task;
                }
                requireRunning();
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

    /** Result of reading at a position: events, the snapshot, the end, or nothing yet. */
    public sealed interface Found {
        record Events(List<LoggedEvent> events) implements Found {}

        /** The events after the position are no longer in memory. */
        record Behind() implements Found {}

        record Nothing() implements Found {}

        record End() implements Found {}
    }

    /** Waits for events after {@code position}, at most for {@code patience} and while {@code reader} is open. */
    public Found find(Reader reader, long position, Duration patience) throws InterruptedException {
        Limits.Limit limit = null;
        lock.lockInterruptibly();
        try {
            while (true) {
                if (!reader.isOpen()) {
                    return new Found.End();
                }
                readers.add(reader);
                if (written > Math.max(position, 0)) {
                    return behind(position);
                }
                if (answer != null) {
                    return position < 0 ? new Found.Events(List.of(new LoggedEvent(0, answer))) : new Found.End();
                }
                if (broken != null) {
                    throw broken;
                }
                Task task = durable;
                if (task != null && task.state().isTerminal()) {
                    return new Found.End();
                }
                requireRunning();
                if (limit == null && patience.isPositive()) {
                    limit = engine.limits().in(patience, this::wake);
                } else if (limit == null || limit.isReached()) {
                    return new Found.Nothing();
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

    /** Called before waiting, which would be for what does not come any more. */
    private void requireRunning() {
        if (engine.stopped().getAsBoolean()) {
            throw stopping();
        }
    }

    /** The refusal of calls that wait while the server stops. */
    public static A2AException stopping() {
        return A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
    }

    private Found behind(long position) {
        LoggedEvent oldest = tail.peekFirst();
        if (oldest == null || oldest.sequence() > Math.max(position, 0) + 1) {
            return new Found.Behind();
        }
        var events = new ArrayList<LoggedEvent>((int) Math.min(tail.size(), written - Math.max(position, 0)));
        var newestFirst = tail.descendingIterator();
        while (newestFirst.hasNext()) {
            LoggedEvent event = newestFirst.next();
            if (event.sequence() <= position) {
                break;
            }
            events.add(event);
        }
        if (readers.size() == 1) {
            tail.clear(); // later readers find them in the log
        }
        return new Found.Events(events.reversed());
    }

    /** Removes a reader that is closed, and wakes it. */
    public void leave(Reader reader) {
        lock.lock();
        try {
            readers.remove(reader);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the task as it is on disk, as an event with the number of the newest event that it includes. */
    LoggedEvent snapshot(UnaryOperator<Task> view) {
        lock.lock();
        try {
            Task task = durable;
            if (task == null) {
                throw new IllegalStateException("nothing of task " + key.taskId() + " is written");
            }
            return new LoggedEvent(written, view.apply(task));
        } finally {
            lock.unlock();
        }
    }

    /** The number of the newest event. */
    public long emitted() {
        return emitted;
    }

    /** The number of the newest event on disk. */
    public long written() {
        return written;
    }

    /** Lets {@code next} begin, if nothing runs; else it begins when what runs is done. Says which. */
    public boolean enter(Run next) {
        lock.lock();
        try {
            if (run != null || held) {
                mailbox.add(next);
                return false;
            }
            run = next;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The run that goes on, or waits for a slot; null if there is none. */
    @Nullable
    public Run run() {
        return run;
    }

    /** True if a run waits for the one that goes on. */
    public boolean hasMail() {
        lock.lock();
        try {
            return !mailbox.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the run that went on, and returns the one that begins now; null if there is none. Until its agent {@linkplain #reads
     * reads} its message, this counts as mail.
     */
    @Nullable
    public Run leave() {
        lock.lock();
        try {
            if (broken != null || ahead != null && ahead.state().isTerminal()) {
                mailbox.clear();
            }
            run = mailbox.peek();
            return run;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets the runs of a task that was to be taken up begin, and returns the one that does; null if there is none.
     *
     * @param first the run before those of waiting messages; null for none
     */
    @Nullable
    public Run resume(@Nullable Run first) {
        lock.lock();
        try {
            held = false;
            if (first == null) {
                return leave();
            }
            run = first;
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** Says that the task has left the state in which {@code reader} found it, which was no answer to its message. */
    public void reads(Run reader) {
        lock.lock();
        try {
            mailbox.remove(reader);
        } finally {
            lock.unlock();
        }
    }

    /** True if {@code state} is what the task's caller waits for: its end, or a question with no message left to read. */
    public boolean isSettled(TaskState state) {
        if (state.isTerminal()) {
            return true;
        }
        lock.lock();
        try {
            return state.isInterrupted()
                    && mailbox.isEmpty()
                    && ahead != null
                    && ahead.state().isInterrupted();
        } finally {
            lock.unlock();
        }
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
            var segment = new Segment(
                    new Head(
                            key,
                            contextId,
                            task.state(),
                            requireNonNull(task.status().timestamp()),
                            emitted),
                    pending,
                    messages,
                    name,
                    cause,
                    webhooks,
                    before == null ? null : before.state());
            inFlight.put(emitted, new Taken(task, pendingSpace));
            pendingSpace = 0;
            pending = new ArrayList<>();
            pendingBytes = 0;
            messages = new ArrayList<>();
            webhooks = new ArrayList<>();
            name = null;
            room.signalAll();
            return segment;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void written(Segment segment) {
        lock.lock();
        try {
            writtenOnce = written == 0 && segment.head().state().isTerminal();
            Taken taken = inFlight.remove(segment.head().lastSequence());
            if (taken != null) {
                durable = taken.after;
                space.giveBack(taken.space);
            }
            written = segment.head().lastSequence();
            for (LoggedEvent event : segment.events()) {
                if (tail.size() == TAIL) {
                    tail.removeFirst();
                }
                tail.addLast(event);
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        engine.listener().written(this, segment);
    }

    @Override
    public void failed(Segment segment, Exception cause) {
        engine.listener().refuses(this, segment);
        var lostMessages = new ArrayList<>(segment.messages());
        var lostNames = new ArrayList<TaskName>();
        if (segment.name() != null) {
            lostNames.add(segment.name());
        }
        lock.lock();
        try {
            lostMessages.addAll(messages);
            messages = new ArrayList<>();
            webhooks = new ArrayList<>();
            if (name != null) {
                lostNames.add(name);
                name = null;
            }
            // The emitted events will never be on disk: the fold returns to the state that callers have seen.
            ahead = durable;
            String reason =
                    TemporaryFailure.reasonOf(cause).map(words -> ": " + words).orElse("");
            broken = A2AException.unavailable("The task could not be written" + reason, Duration.ofSeconds(1))
                    .causedBy(cause);
            // Not those before it: when the log closes, it refuses new ones while it still writes the last.
            var lost = inFlight.tailMap(segment.head().lastSequence(), true);
            lost.values().forEach(taken -> space.giveBack(taken.space));
            lost.clear();
            pending = new ArrayList<>();
            pendingBytes = 0;
            space.giveBack(pendingSpace);
            pendingSpace = 0;
            room.signalAll();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        engine.listener().refused(this, lostMessages, lostNames);
    }

    /** Marks this task as removed from the log: reads do not find it. */
    void erased() {
        lock.lock();
        try {
            broken = A2AException.taskNotFound(key.taskId());
            room.signalAll();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
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

    private static int weightOf(TaskEvent event) {
        return EVENT_WEIGHT
                + switch (event) {
                    case Task task ->
                        task.history().stream()
                                .mapToInt(message -> weightOf(message.parts()))
                                .sum();
                    case Message message -> weightOf(message.parts());
                    case TaskArtifactUpdateEvent produced -> weightOf(produced.artifact());
                    case TaskStatusUpdateEvent moved -> {
                        Message note = moved.status().message();
                        yield note == null ? 0 : weightOf(note.parts());
                    }
                };
    }

    /** Roughly how many bytes a task takes. */
    public static int weightOf(Task task) {
        int sum = 0;
        for (Message message : task.history()) {
            sum += weightOf(message.parts());
        }
        for (Artifact artifact : task.artifacts()) {
            sum += weightOf(artifact);
        }
        return sum;
    }

    private static int weightOf(Artifact artifact) {
        return weightOf(artifact.parts()) + weightOf(artifact.metadata());
    }

    private static int weightOf(@Nullable Object json) {
        return switch (json) {
            case String text -> 50 + text.length();
            case Map<?, ?> map -> {
                int sum = 0;
                for (var entry : map.entrySet()) {
                    sum += weightOf(entry.getKey()) + weightOf(entry.getValue());
                }
                yield sum;
            }
            case List<?> list -> {
                int sum = 0;
                for (Object element : list) {
                    sum += weightOf(element);
                }
                yield sum;
            }
            case null, default -> 20;
        };
    }

    private static int weightOf(List<Part> parts) {
        int sum = 0;
        for (Part part : parts) {
            sum += 100
                    + weightOf(part.metadata())
                    + switch (part) {
                        case Part.Text text -> text.text().length();
                        case Part.Raw raw -> raw.raw().length;
                        case Part.Url url -> url.url().length();
                        case Part.Data data -> weightOf(data.data());
                    };
        }
        return sum;
    }
}
