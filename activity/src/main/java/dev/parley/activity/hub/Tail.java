package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.hub.Moves.Move;
import dev.parley.activity.hub.Moves.Page;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.support.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The newest changes of a group while it is watched: one thread reads them once for all that watch, some after each other, and wakes these
 * a few dozen times a second at most. Safe for any thread; the lock is never held during I/O.
 */
final class Tail {
    private static final Logger LOG = System.getLogger("dev.parley.activity");
    private static final Backoff READS = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    /** Time in which changes gather before watchers are woken. */
    private static final Duration GATHERING = Duration.ofMillis(20);

    private static final int ROWS_AT_ONCE = 500;
    private static final int MOST_MOVES = 1_024;
    private static final int MOST_NOTES = 1_024;

    /** A change without a number, in the order in which they came. */
    record Note(long place, Move move) {}

    /** Changes behind two places; null moves are no longer here. */
    record News(@Nullable List<Move> moves, long number, List<Note> notes, long place, boolean hasGap) {}

    private final Moves source;
    private final @Nullable String group;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition news = lock.newCondition();
    private final ArrayDeque<Move> moves = new ArrayDeque<>();
    /** All changes behind this number, up to {@link #read}, are here. */
    private long from;

    private long read;
    /** The newest note of each task, and those of agents. */
    private final SequencedMap<Object, Note> notes = new LinkedHashMap<>();

    private long place;
    /** Place of the newest note that is no longer here and was not replaced by a newer one. */
    private long dropped;

    private int watchers;
    private boolean isChanged;
    private boolean isClosed;

    /**
     * @param group null for all groups
     * @param newest number behind which changes are read
     */
    Tail(Moves source, @Nullable String group, long newest) {
        this.source = source;
        this.group = group;
        this.from = newest;
        this.read = newest;
    }

    /** Adds a watcher; the first one starts the reader. */
    void enter() {
        lock.lock();
        try {
            if (watchers++ == 0) {
                isChanged = true;
                Thread.ofVirtual().name("activity").start(this::run);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Removes a watcher, and returns whether it was the last one: then this ends. */
    boolean leave() {
        lock.lock();
        try {
            watchers--;
            work.signal();
            news.signalAll();
            return watchers == 0;
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the watchers, one of which is closed. */
    void wake() {
        lock.lock();
        try {
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            isClosed = true;
            work.signalAll();
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** There are new changes in the source. Does not block. */
    void changed() {
        lock.lock();
        try {
            isChanged = true;
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Adds the progress of a task, in place of the one before. Does not block. */
    void progress(TaskKey task, Change progress) {
        note(task, new Move(task.scope(), progress));
    }

    /** Adds a change without a number, in place of the one of its key. Does not block. */
    void note(Object key, Move move) {
        lock.lock();
        try {
            notes.remove(key);
            notes.put(key, new Note(++place, move));
            if (notes.size() > MOST_NOTES) {
                Iterator<Note> eldest = notes.values().iterator();
                dropped = eldest.next().place();
                eldest.remove();
            }
            isChanged = true;
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** The place behind all notes. */
    long place() {
        lock.lock();
        try {
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** Number behind which all changes are here. */
    long from() {
        lock.lock();
        try {
            return from;
        } finally {
            lock.unlock();
        }
    }

    /** Number up to which the changes are read. */
    private long read() {
        lock.lock();
        try {
            return read;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for changes behind a number and a place.
     *
     * @return null once this is closed
     */
    @Nullable
    News await(BooleanSupplier isLeft, long number, long behind, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (true) {
                if (isClosed || isLeft.getAsBoolean()) {
                    return null;
                }
                if (number < from) {
                    return new News(null, number, List.of(), behind, false);
                }
                if (read > number || place > behind || left <= 0) {
                    return new News(moves(number), Math.max(number, read), notes(behind), place, dropped > behind);
                }
                left = news.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private List<Move> moves(long number) {
        var found = new ArrayList<Move>();
        for (Iterator<Move> each = moves.descendingIterator(); each.hasNext(); ) {
            Move move = each.next();
            if (move.change().number() <= number) {
                break;
            }
            found.add(move);
        }
        return found.reversed();
    }

    private List<Note> notes(long behind) {
        if (place <= behind) {
            return List.of();
        }
        var found = new ArrayList<Note>();
        for (Note note : notes.sequencedValues().reversed()) {
            if (note.place() <= behind) {
                break;
            }
            found.add(note);
        }
        return found.reversed();
    }

    // ---- Reading

    private void run() {
        int failures = 0;
        try {
            while (gather()) {
                try {
                    readAll();
                    failures = 0;
                } catch (RuntimeException failure) {
                    LOG.log(Level.WARNING, "changes of tasks cannot be read", failure);
                    if (!pause(READS.after(++failures, null))) {
                        return;
                    }
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for changes, and then for those that come soon after; false if nothing watches any more. */
    private boolean gather() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!isChanged) {
                if (isClosed || watchers == 0) {
                    return false;
                }
                work.await();
            }
        } finally {
            lock.unlock();
        }
        boolean goesOn = pause(GATHERING);
        lock.lock();
        try {
            isChanged = false;
        } finally {
            lock.unlock();
        }
        return goesOn;
    }

    /** Waits; false if this is closed or nothing watches any more. */
    private boolean pause(Duration time) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = time.toNanos();
            while (!isClosed && watchers > 0 && left > 0) {
                left = work.awaitNanos(left);
            }
            isChanged = true;
            return !isClosed && watchers > 0;
        } finally {
            lock.unlock();
        }
    }

    private void readAll() {
        Page page;
        do {
            page = source.behind(group, read(), ROWS_AT_ONCE);
            lock.lock();
            try {
                for (Move move : page.moves()) {
                    if (moves.size() == MOST_MOVES) {
                        from = moves.removeFirst().change().number();
                    }
                    moves.addLast(move);
                }
                read = Math.max(read, page.next());
                news.signalAll();
            } finally {
                lock.unlock();
            }
        } while (!page.isLast());
    }
}
