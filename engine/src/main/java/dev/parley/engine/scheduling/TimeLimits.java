package dev.parley.engine.scheduling;

import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Time limits that are set for every call and hardly ever reached.
 *
 * <p>A timer wakes its thread whenever its earliest entry changes, which for limits that come and go with each request costs
 * more than the request. This class schedules one wake-up only and leaves it when its limit is dropped: the timer then finds
 * nothing due and sleeps until the limit that is the earliest by that time.
 *
 * <p>A limit more than a second away waits in the unsorted list of its second, which it enters and leaves at the cost of a few
 * writes. Only those that still stand when their second begins are sorted.
 *
 * <p>Safe for any thread.
 */
public final class TimeLimits {
    private static final Comparator<Limit> EARLIEST_FIRST =
            Comparator.<Limit>comparingLong(limit -> limit.at).thenComparingLong(limit -> limit.number);

    /** A second, roughly, as a power of two of nanoseconds. */
    private static final int SECOND_BITS = 30;

    private final Threads threads;
    private final ScheduledExecutorService timer;
    private final long origin;
    private final AtomicLong numbers = new AtomicLong();
    /** Limits of this second and the next one, and those of seconds that have begun. */
    private final ConcurrentSkipListSet<Limit> near = new ConcurrentSkipListSet<>(EARLIEST_FIRST);

    private final ConcurrentSkipListMap<Long, Second> far = new ConcurrentSkipListMap<>();
    /** Time of the next timer event. Read after adding a limit and written before looking for one, so that none is missed. */
    private volatile long ringsAt = Long.MAX_VALUE;

    private @Nullable Future<?> bell;

    public TimeLimits(Threads threads, ScheduledExecutorService timer) {
        this.threads = threads;
        this.timer = timer;
        this.origin = threads.nanoTime();
    }

    /** A limit that has been set. */
    public final class Limit {
        private final long at;
        private final long number = numbers.getAndIncrement();
        private final Runnable action;
        private @Nullable Second second;
        private @Nullable Limit before;
        private @Nullable Limit after;

        private Limit(long at, Runnable action) {
            this.at = at;
            this.action = action;
        }

        public boolean isReached() {
            return at <= now();
        }

        /** Has the action not run, if it has not begun. */
        public void drop() {
            Second waited = second;
            if (waited == null || !waited.remove(this)) {
                near.remove(this);
            }
        }
    }

    /** Limits of a second that has not begun, in a linked list. Guarded by itself. */
    private static final class Second {
        private @Nullable Limit first;
        private boolean over;

        /** Returns false if the second is over. */
        synchronized boolean add(Limit limit) {
            if (over) {
                return false;
            }
            limit.second = this;
            limit.after = first;
            if (first != null) {
                first.before = limit;
            }
            first = limit;
            return true;
        }

        /** Returns false if the second is over. Idempotent. */
        synchronized boolean remove(Limit limit) {
            if (over) {
                return false;
            }
            if (limit.before != null) {
                limit.before.after = limit.after;
            } else if (first == limit) {
                first = limit.after;
            }
            if (limit.after != null) {
                limit.after.before = limit.before;
            }
            limit.before = null;
            limit.after = null;
            return true;
        }

        /** Passes all limits and refuses further ones; does nothing if there are limits and {@code anyway} is false. */
        synchronized boolean end(boolean anyway, Consumer<Limit> standing) {
            if (first != null && !anyway) {
                return false;
            }
            over = true;
            for (Limit limit = first; limit != null; limit = limit.after) {
                standing.accept(limit);
            }
            first = null;
            return true;
        }
    }

    /** Has {@code action}, which must not block, run after {@code time} unless the limit is dropped before. */
    public Limit in(Duration time, Runnable action) {
        long now = now();
        var limit = new Limit(now + Math.min(TimeUnit.NANOSECONDS.convert(time), Long.MAX_VALUE - now), action);
        long second = limit.at >> SECOND_BITS;
        long wakes = limit.at;
        if (second <= (now >> SECOND_BITS) + 1) {
            near.add(limit);
        } else {
            wakes = second << SECOND_BITS;
            while (!far.computeIfAbsent(second, begins -> new Second()).add(limit)) {
                Thread.onSpinWait(); // until the second that has just ended is out of the map
            }
        }
        if (wakes < ringsAt) {
            setBell();
        }
        return limit;
    }

    private synchronized void setBell() {
        long earliest = earliest();
        if (earliest < ringsAt) {
            if (bell != null) {
                bell.cancel(false);
            }
            ringsAt = earliest;
            bell = timer.schedule(this::ring, earliest - now(), TimeUnit.NANOSECONDS);
        }
    }

    private void ring() {
        synchronized (this) {
            ringsAt = Long.MAX_VALUE;
            bell = null;
        }
        sort();
        for (Limit limit = nearest(); limit != null && limit.isReached(); limit = nearest()) {
            if (near.remove(limit)) {
                limit.action.run();
            }
        }
        setBell();
    }

    /** Sorts the limits of seconds that have begun, and removes empty seconds. */
    private void sort() {
        for (var next = far.firstEntry(); next != null; next = far.firstEntry()) {
            boolean begun = next.getKey() << SECOND_BITS <= now();
            if (!next.getValue().end(begun, near::add)) {
                return;
            }
            far.remove(next.getKey(), next.getValue());
        }
    }

    /** Time at which a limit is due, or limits have to be sorted; the maximum for none. */
    private long earliest() {
        Limit limit = nearest();
        var second = far.firstEntry();
        return Math.min(
                limit == null ? Long.MAX_VALUE : limit.at,
                second == null ? Long.MAX_VALUE : second.getKey() << SECOND_BITS);
    }

    private @Nullable Limit nearest() {
        var iterator = near.iterator();
        return iterator.hasNext() ? iterator.next() : null;
    }

    private long now() {
        return threads.nanoTime() - origin;
    }
}
