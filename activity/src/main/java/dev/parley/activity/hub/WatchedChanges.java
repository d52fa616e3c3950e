package dev.parley.activity.hub;

import dev.parley.activity.hub.Moves.Move;
import dev.parley.activity.hub.Moves.Page;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.audit.AuditPosition;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The newest changes of a group while it is watched: one thread reads them once for all watchers, some after each other, and wakes these a few
 * dozen times a second at most.
 *
 * <p>Writers of tasks set a flag or add to a queue, and wait for no watcher. The reader publishes the {@link Newest}, which watchers read without a
 * lock. Safe for any thread.
 */
final class WatchedChanges {
    private static final Logger LOG = System.getLogger("dev.parley.activity");
    private static final Backoff READS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Time in which changes gather before watchers are woken. */
    private static final Duration GATHERING = Duration.ofMillis(20);

    private static final int ROWS_AT_ONCE = 500;

    /** Some 8 MB, and the changes of a pause of a quarter of a minute on a busy hub. */
    private static final int MOST_MOVES = 16_384;

    private static final int MOST_NOTES = 1_024;
    private static final int MOST_ENDED = 1_024;

    /** Pages that watchers that are behind share, and the time for which they do. */
    private static final int MOST_PAGES = 32;

    private static final long PAGE_NANOS = Duration.ofSeconds(30).toNanos();

    /** A change without a number, in the order in which they came. */
    record Note(long place, Move move) {}

    /**
     * The newest changes at a time. Immutable.
     *
     * @param from place after which all changes, up to {@code read}, are in {@code moves}
     * @param first how many changes there were before {@code moves}
     * @param reads how often {@code read} went on
     * @param place of the newest note
     * @param dropped place of the newest note that is no longer here and was not replaced by a newer one
     */
    record Newest(
            AuditPosition from,
            AuditPosition read,
            List<Move> moves,
            long first,
            long reads,
            long place,
            List<Note> notes,
            long dropped) {
        /** Nothing was read, so that a reader that knows nothing is behind. */
        static final long NO_READ = -1;

        private boolean isBehind(long known, long knownPlace) {
            return reads != known || place > knownPlace;
        }

        /** Changes after so many. */
        List<Move> moves(long count) {
            return moves.subList(Math.clamp(count - first, 0, moves.size()), moves.size());
        }

        /** How many changes there were in all. */
        long count() {
            return first + moves.size();
        }

        List<Note> notes(long known) {
            if (place <= known) {
                return List.of();
            }
            return notes.stream().filter(note -> note.place() > known).toList();
        }
    }

    /** A note that the reader has not taken yet. The change is made by the reader. */
    private record Pending(Object key, Supplier<Move> move) {}

    /** A page of the changes after a place. */
    private record SharedPage(AuditPosition after, Page page, long readAt) {
        /** Whether the page has all changes from a place on, and goes beyond it. */
        boolean holds(AuditPosition place) {
            return place.includes(after) && !place.includes(page.next());
        }

        /** The page after a place. There may be changes after it by now. */
        Page after(AuditPosition place) {
            List<Move> moves = page.moves().stream()
                    .filter(move -> !place.includes(move.change().number()))
                    .toList();
            return new Page(moves, place.with(page.next()), false, page.hasGap());
        }
    }

    private final Moves source;
    private final @Nullable String group;

    // What writers of tasks leave for the reader.
    private final AtomicBoolean isChanged = new AtomicBoolean();
    private final Queue<Pending> pending = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pendingNotes = new AtomicInteger();
    private final AtomicBoolean isOverfull = new AtomicBoolean();
    private volatile @Nullable Thread reader;

    // Only for the reader.
    private final ArrayDeque<Move> moves = new ArrayDeque<>();
    private final SequencedMap<Object, Note> notes = new LinkedHashMap<>();
    /** Tasks that have ended a short time ago: their progress comes too late. */
    private final Map<TaskKey, Boolean> ended = new LruMap<>(MOST_ENDED);

    private AuditPosition from;
    private AuditPosition read;
    private long first;
    private long reads;
    private long place;
    private long dropped;

    // What the reader leaves for watchers. The lock is held for a few steps, and never by writers of tasks.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition isNew = lock.newCondition();
    private volatile Newest newest;
    private final AtomicInteger watchers = new AtomicInteger();
    private volatile boolean isClosed;

    /** Held while a page is read, so that watchers at about the same place wait for one read instead of doing it themselves. */
    private final ReentrantLock pagesLock = new ReentrantLock();

    private final Deque<SharedPage> pages = new ArrayDeque<>();

    /**
     * @param group null for all groups
     * @param begin place after which changes are read
     */
    WatchedChanges(Moves source, @Nullable String group, AuditPosition begin) {
        this.source = source;
        this.group = group;
        this.from = begin;
        this.read = begin;
        this.newest = new Newest(begin, begin, List.of(), 0, 0, 0, List.of(), 0);
    }

    /** Adds a watcher; the first one starts the reader. Not called again when the last one has left. */
    void enter() {
        if (watchers.getAndIncrement() == 0) {
            isChanged.set(true);
            Thread started = Thread.ofVirtual().name("activity").unstarted(this::run);
            reader = started;
            started.start();
        }
    }

    /** Removes a watcher, and returns whether it was the last one: then this ends. */
    boolean leave() {
        boolean isLast = watchers.decrementAndGet() == 0;
        if (isLast) {
            wakeReader();
        }
        return isLast;
    }

    /** Wakes the watchers, one of which is closed. */
    void wake() {
        lock.lock();
        try {
            isNew.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        isClosed = true;
        wakeReader();
        wake();
    }

    /** There are new changes in the source. Does not block. */
    void changed() {
        if (isChanged.compareAndSet(false, true)) {
            wakeReader();
        }
    }

    /**
     * Adds a change without a number, in place of the one of its key. Does not block.
     *
     * @param move called by the reader
     */
    void note(Object key, Supplier<Move> move) {
        if (pendingNotes.get() >= MOST_NOTES) {
            isOverfull.set(true);
            return;
        }
        pending.add(new Pending(key, move));
        if (pendingNotes.getAndIncrement() == 0) {
            wakeReader();
        }
    }

    private void wakeReader() {
        Thread thread = reader;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** The newest changes. */
    Newest newest() {
        return newest;
    }

    /**
     * Waits for changes.
     *
     * @param reads {@link Newest#reads} of the changes that the watcher has
     * @param known place of the newest note that it has
     * @return null once this is closed
     */
    @Nullable
    Newest await(BooleanSupplier isLeft, long reads, long known, long nanos) throws InterruptedException {
        Newest ready = newest;
        if (ready.isBehind(reads, known) && !isClosed && !isLeft.getAsBoolean()) {
            return ready;
        }
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (!isClosed && !isLeft.getAsBoolean()) {
                ready = newest;
                if (left <= 0 || ready.isBehind(reads, known)) {
                    return ready;
                }
                left = isNew.awaitNanos(left);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Changes after a place from the source, for a watcher whose place is before {@link Newest#from}.
     *
     * @param taskId null for all tasks; the changes of one are found by themselves
     */
    Page after(AuditPosition place, @Nullable String taskId) throws InterruptedException {
        if (taskId != null) {
            return source.after(group, taskId, place, ROWS_AT_ONCE);
        }
        pagesLock.lockInterruptibly();
        try {
            long now = System.nanoTime();
            pages.removeIf(each -> now - each.readAt() > PAGE_NANOS);
            for (SharedPage each : pages) {
                if (each.holds(place)) {
                    return each.after(place);
                }
            }
            Page page = source.after(group, null, place, ROWS_AT_ONCE);
            if (!place.includes(page.next())) {
                pages.addFirst(new SharedPage(place, page, now));
            }
            if (pages.size() > MOST_PAGES) {
                pages.removeLast();
            }
            return page;
        } finally {
            pagesLock.unlock();
        }
    }

    // ---- Reading

    private void run() {
        int failures = 0;
        try {
            while (gather()) {
                takeNotes();
                try {
                    if (isChanged.getAndSet(false)) {
                        readAll();
                    }
                    failures = 0;
                } catch (RuntimeException failure) {
                    LOG.log(Level.WARNING, "changes of tasks cannot be read", failure);
                    isChanged.set(true);
                    publish();
                    if (!pause(READS.after(++failures, null))) {
                        return;
                    }
                }
                publish();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for changes, and then for those that come soon after; false if nothing watches any more. */
    private boolean gather() throws InterruptedException {
        while (!isChanged.get() && pendingNotes.get() == 0) {
            if (isDone()) {
                return false;
            }
            LockSupport.park(this);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return pause(GATHERING);
    }

    /** Waits; false if this is closed or nothing watches any more. */
    private boolean pause(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0 && !isDone(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
        return !isDone();
    }

    private boolean isDone() {
        return isClosed || watchers.get() == 0;
    }

    private void takeNotes() {
        for (Pending next = pending.poll(); next != null; next = pending.poll()) {
            pendingNotes.decrementAndGet();
            if (next.key() instanceof TaskKey task && ended.containsKey(task)) {
                continue;
            }
            notes.remove(next.key());
            notes.put(next.key(), new Note(++place, next.move().get()));
            if (notes.size() > MOST_NOTES) {
                Iterator<Note> eldest = notes.values().iterator();
                dropped = Math.max(dropped, eldest.next().place());
                eldest.remove();
            }
        }
        if (isOverfull.getAndSet(false)) {
            dropped = ++place;
        }
    }

    private void readAll() {
        Page page;
        do {
            page = source.after(group, null, read, ROWS_AT_ONCE);
            if (page.hasGap()) {
                // Watchers that are not beyond the gap read from the source, which tells them of it.
                first += moves.size();
                moves.clear();
                from = page.moves().isEmpty()
                        ? page.next()
                        : AuditPosition.of(page.moves().getFirst().change().number() - 1);
            }
            for (Move move : page.moves()) {
                if (moves.size() == MOST_MOVES) {
                    from = moves.removeFirst().place();
                    first++;
                }
                moves.addLast(move);
                replaceNote(move);
            }
            AuditPosition next = read.with(page.next());
            if (!next.equals(read)) {
                read = next;
                reads++;
            }
            if (!page.isLast()) {
                publish();
            }
        } while (!page.isLast());
    }

    /** Removes the note of a task that does not work any more: watchers get it after the change, and would take the task for a working one. */
    private void replaceNote(Move move) {
        TaskState state = move.change().state();
        String agent = move.change().agent();
        String taskId = move.change().taskId();
        if (state == null || state == TaskState.WORKING || agent == null || taskId == null) {
            return;
        }
        Scope scope = move.scope();
        var task = new TaskKey(scope, agent, taskId);
        notes.remove(task);
        if (state.isTerminal()) {
            ended.put(task, true);
        }
    }

    private void publish() {
        Newest before = newest;
        boolean hasMoves = before.reads() != reads;
        var next = new Newest(
                from,
                read,
                hasMoves ? List.copyOf(moves) : before.moves(),
                hasMoves ? first : before.first(),
                reads,
                place,
                List.copyOf(notes.values()),
                dropped);
        lock.lock();
        try {
            newest = next;
            isNew.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
