package dev.parley.engine;

import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A log whose commits a test makes, one by one: each succeeds, or fails. A new object over the same {@code disk} is the log
 * after a crash: what was submitted and not committed is lost.
 */
final class SteppedLog implements TaskLog {
    private final MemoryTaskLog disk;
    private final ArrayDeque<Writer> queue = new ArrayDeque<>();
    private final Set<String> damaged = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Runnable> reading = new AtomicReference<>();
    private final AtomicReference<@Nullable Runnable> finding = new AtomicReference<>();
    private final AtomicReference<@Nullable Runnable> explaining = new AtomicReference<>();
    private final AtomicReference<@Nullable Runnable> removing = new AtomicReference<>();
    private final AtomicReference<@Nullable RuntimeException> erasing = new AtomicReference<>();
    private volatile UnaryOperator<List<Head>> takeover = heads -> heads;
    private boolean stepped = true;
    private boolean closed;

    /** What the commits that are made without being asked for come to; null if they succeed. */
    private @Nullable Exception fault;

    SteppedLog(MemoryTaskLog disk) {
        this.disk = disk;
    }

    /** A log that commits each submission at once, until {@link #step}. */
    static SteppedLog flowing(MemoryTaskLog disk) {
        var log = new SteppedLog(disk);
        log.stepped = false;
        return log;
    }

    /** Has submissions wait for {@link #commit} or {@link Begun#fail} from now on. */
    synchronized void step() {
        stepped = true;
    }

    /** Has each commit that flows fail from now on; with null succeed again. */
    synchronized void failing(@Nullable Exception cause) {
        fault = cause;
    }

    synchronized int waiting() {
        return queue.size();
    }

    private synchronized @Nullable Writer poll() {
        notifyAll();
        return queue.poll();
    }

    /** Waits until so many submissions wait. */
    synchronized void awaitWaiting(int count) throws InterruptedException {
        while (queue.size() < count) {
            wait();
        }
    }

    /** Commits what was submitted first; false if nothing waits. */
    boolean commit() {
        Writer next = poll();
        if (next != null) {
            write(next);
        }
        return next != null;
    }

    /** Commits what waits and what is submitted from now on, until the thread is interrupted. */
    Thread committing() {
        return Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    awaitWaiting(1);
                    commit();
                }
            } catch (InterruptedException end) {
                // of the test
            }
        });
    }

    private void write(Writer writer) {
        Segment segment = writer.take();
        if (segment == null) {
            return;
        }
        Exception cause;
        synchronized (this) {
            cause = fault;
        }
        if (cause != null) {
            writer.failed(segment, cause);
        } else {
            store(segment);
            writer.written(segment);
        }
    }

    private void store(Segment segment) {
        disk.submit(new Writer() {
            @Override
            public Segment take() {
                return segment;
            }

            @Override
            public void written(Segment stored) {}

            @Override
            public void failed(Segment lost, Exception cause) {}
        });
    }

    /** A commit that has begun: its segment is taken, and it is yet to succeed or to fail. */
    static final class Begun {
        private final SteppedLog log;
        private final Writer writer;
        private final @Nullable Segment segment;

        private Begun(SteppedLog log, Writer writer) {
            this.log = log;
            this.writer = writer;
            this.segment = writer.take();
        }

        void fail(Exception cause) {
            if (segment != null) {
                writer.failed(segment, cause);
            }
        }

        /** Commits, and reports a failure all the same. */
        void failLanded(Exception cause) {
            if (segment != null) {
                log.store(segment);
            }
            fail(cause);
        }
    }

    /** Takes what was submitted first. */
    Begun begin() {
        Writer next = poll();
        if (next == null) {
            throw new IllegalStateException("nothing waits");
        }
        return new Begun(this, next);
    }

    @Override
    public void submit(Writer writer) {
        boolean now;
        boolean late;
        synchronized (this) {
            late = closed;
            now = !stepped;
            if (!now && !late) {
                queue.add(writer);
                notifyAll();
            }
        }
        if (late) {
            Segment segment = writer.take();
            if (segment != null) {
                writer.failed(segment, new IllegalStateException("the log is closed"));
            }
        } else if (now) {
            write(writer);
        }
    }

    @Override
    public Once once() {
        return disk.once();
    }

    @Override
    public List<Head> interrupted() {
        return disk.interrupted();
    }

    @Override
    public List<Head> takeOver(Set<String> agents, int limit) {
        return takeover.apply(disk.takeOver(agents, limit));
    }

    /** Changes the answers to takeovers from now on. */
    void onTakeOver(UnaryOperator<List<Head>> answer) {
        takeover = answer;
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        Optional<Head> head = disk.find(key);
        Runnable action = finding.getAndSet(null);
        if (action != null) {
            action.run();
        }
        return head;
    }

    /** Runs {@code action} when the next head is found, before the answer. */
    void onNextFind(Runnable action) {
        finding.set(action);
    }

    /** Has the events of a task be unreadable from now on. */
    void damage(String taskId) {
        damaged.add(taskId);
    }

    /** Runs {@code action} in the middle of the next reading of events: after the disk, before the answer. */
    void onNextRead(Runnable action) {
        reading.set(action);
    }

    /** Runs {@code action} when the caller of a task is read next. */
    void onNextCause(Runnable action) {
        explaining.set(action);
    }

    /** Runs {@code action} in the next sweep of ended tasks. */
    void onNextSweep(Runnable action) {
        removing.set(action);
    }

    /** Has the next erasure fail when it has removed its tasks. */
    void failErasure(RuntimeException cause) {
        erasing.set(cause);
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        if (damaged.contains(key.taskId())) {
            throw new DamagedTaskException(key.taskId(), "its events are damaged");
        }
        List<LoggedEvent> events = disk.read(key, after, limit);
        Runnable action = reading.getAndSet(null);
        if (action != null) {
            action.run();
        }
        return events;
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return disk.find(group, taskId);
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return disk.inTrace(group, trace, limit);
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        Runnable action = explaining.getAndSet(null);
        if (action != null) {
            action.run();
        }
        return disk.cause(key);
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return disk.taskOf(key);
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        return disk.turns(scope, agent, contextId);
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        return disk.taskNamed(name);
    }

    @Override
    public Page list(Query query) {
        return disk.list(query);
    }

    @Override
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        return disk.times(key, sequence, limit);
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {
        disk.walk(selection, lanes, visitor);
    }

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        return disk.counts(group, owners, agent, limit);
    }

    @Override
    public List<Head> unfinished() {
        return disk.unfinished();
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        Runnable action = removing.getAndSet(null);
        if (action != null) {
            action.run();
        }
        return disk.removeEnded(before, limit);
    }

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
        return disk.about(subject, after, limit);
    }

    @Override
    public void erase(List<TaskKey> tasks) {
        disk.erase(tasks);
        RuntimeException cause = erasing.getAndSet(null);
        if (cause != null) {
            throw cause;
        }
    }

    @Override
    public void forget(String group, String principal) {
        disk.forget(group, principal);
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
