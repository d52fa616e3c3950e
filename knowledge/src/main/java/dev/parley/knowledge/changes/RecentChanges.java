package dev.parley.knowledge.changes;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Newest changes of a group, for watchers. A reader that is further behind reads the table instead, so that slow readers
 * cost no memory. Safe for any thread.
 */
public final class RecentChanges {
    static final int KEPT = 4_096;
    static final long MAX_CHARACTERS = 4L << 20;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    private final ArrayDeque<Numbered> newest = new ArrayDeque<>();
    private long characters;
    private long generation;

    /** Everything up to this change is not here. */
    private long begin;

    /** Everything up to this number is here, or can be read from the table. */
    private long known;

    /** How often changes were forgotten. */
    private long forgotten;

    /** @param last the newest change there is */
    public RecentChanges(long last) {
        this(last, last);
    }

    /**
     * Begins a feed.
     *
     * @param last the newest change there is
     * @param known number up to which there are no further changes
     */
    public RecentChanges(long last, long known) {
        this.begin = last;
        this.known = Math.max(last, known);
    }

    /** Shows changes that are on disk, in their order. */
    public void publish(List<Numbered> changes) {
        lock.lock();
        try {
            show(changes);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows changes that are on disk, unless others come before them.
     *
     * @param before number of the newest change before them
     * @return false if changes of another hub, up to {@code before}, have to be shown first
     */
    public boolean publish(long before, List<Numbered> changes) {
        lock.lock();
        try {
            boolean isNext = before <= known;
            if (isNext) {
                show(changes);
            }
            return isNext;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Shows changes that were read from the table, after those that are known.
     *
     * @param turn {@link #turn} before they were read
     * @param last number up to which they are all
     */
    public void publishRead(long turn, List<Numbered> changes, long last) {
        lock.lock();
        try {
            if (turn == forgotten) {
                show(changes);
                known = Math.max(known, last);
            }
        } finally {
            lock.unlock();
        }
    }

    private void show(List<Numbered> changes) {
        for (Numbered change : changes) {
            if (change.number() > known) {
                newest.add(change);
                characters += change.characters();
                known = change.number();
            }
        }
        while (newest.size() > KEPT || characters > MAX_CHARACTERS) {
            Numbered oldest = newest.remove();
            characters -= oldest.characters();
            begin = oldest.number();
        }
        news.signalAll();
    }

    /** Number up to which all changes were shown, or left to the table. */
    public long known() {
        lock.lock();
        try {
            return known;
        } finally {
            lock.unlock();
        }
    }

    /** Changes with each {@link #forget}: what was read before it is not shown any more. */
    public long turn() {
        lock.lock();
        try {
            return forgotten;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the changes in memory; readers that have not read them read the table. */
    public void forget() {
        lock.lock();
        try {
            forgotten++;
            if (!newest.isEmpty()) {
                begin = newest.getLast().number();
                newest.clear();
                characters = 0;
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Learns of the newest change on disk. If it was never shown here, readers find it, and all before it, in the table. */
    public void catchUp(long newestOnDisk) {
        lock.lock();
        try {
            if (newestOnDisk > (newest.isEmpty() ? begin : newest.getLast().number())) {
                newest.clear();
                characters = 0;
                begin = newestOnDisk;
                known = Math.max(known, newestOnDisk);
                news.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Wakes all waiting readers to check their permissions again. */
    public void wake() {
        lock.lock();
        try {
            generation++;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns changes after {@code after}, waiting for the first of them.
     *
     * @return an empty list if nothing came within {@code patience}, or {@link #wake} was called; null if the oldest of
     *     them are not here any more
     */
    @Nullable
    public List<Numbered> after(long after, Duration patience) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = patience.toNanos();
            long asked = generation;
            while (after >= begin && (newest.isEmpty() || newest.getLast().number() <= after)) {
                if (left <= 0 || asked != generation) {
                    return List.of();
                }
                left = news.awaitNanos(left);
            }
            return after < begin ? null : since(after);
        } finally {
            lock.unlock();
        }
    }

    private List<Numbered> since(long after) {
        var found = new ArrayList<Numbered>();
        Iterator<Numbered> backwards = newest.descendingIterator();
        while (backwards.hasNext()) {
            Numbered one = backwards.next();
            if (one.number() <= after) {
                break;
            }
            found.add(one);
        }
        return found.reversed();
    }

    /** Longest wait, so that its arithmetic cannot overflow. */
    public static Duration bounded(Duration patience) {
        Duration most = Duration.ofNanos(TimeUnit.DAYS.toNanos(365));
        return patience.compareTo(most) > 0 ? most : patience;
    }
}
