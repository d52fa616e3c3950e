package dev.parley.engine.scheduling;

import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Time limits that are set for every call and hardly ever reached.
 *
 * <p>A timer wakes its thread whenever its earliest entry changes, which for limits that come and go with each request costs
 * more than the request. This class schedules one wake-up only and leaves it when its limit is dropped: the timer then finds
 * nothing due and sleeps until the limit that is the earliest by that time.
 *
 * <p>Safe for any thread.
 */
public final class Limits {
    private static final Comparator<Limit> EARLIEST_FIRST =
            Comparator.<Limit>comparingLong(limit -> limit.at).thenComparingLong(limit -> limit.number);

    private final Threads threads;
    private final ScheduledExecutorService timer;
    private final long origin;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentSkipListSet<Limit> limits = new ConcurrentSkipListSet<>(EARLIEST_FIRST);
    /** Time of the next timer event. Read behind adding a limit and written before looking for one, so that none is missed. */
    private volatile long ringsAt = Long.MAX_VALUE;

    private @Nullable Future<?> bell;

    public Limits(Threads threads, ScheduledExecutorService timer) {
        this.threads = threads;
        this.timer = timer;
        this.origin = threads.nanoTime();
    }

    /** A limit that has been set. */
    public final class Limit {
        private final long at;
        private final long number = numbers.getAndIncrement();
        private final Runnable action;

        private Limit(long at, Runnable action) {
            this.at = at;
            this.action = action;
        }

        public boolean isReached() {
            return at <= now();
        }

        /** Has the action not run, if it has not begun. */
        public void drop() {
            limits.remove(this);
        }
    }

    /** Has {@code action}, which must not block, run after {@code time} unless the limit is dropped before. */
    public Limit in(Duration time, Runnable action) {
        long now = now();
        var limit = new Limit(now + Math.min(TimeUnit.NANOSECONDS.convert(time), Long.MAX_VALUE - now), action);
        limits.add(limit);
        if (limit.at < ringsAt) {
            setBell();
        }
        return limit;
    }

    private synchronized void setBell() {
        Limit earliest = earliest();
        if (earliest != null && earliest.at < ringsAt) {
            if (bell != null) {
                bell.cancel(false);
            }
            ringsAt = earliest.at;
            bell = timer.schedule(this::ring, earliest.at - now(), TimeUnit.NANOSECONDS);
        }
    }

    private void ring() {
        synchronized (this) {
            ringsAt = Long.MAX_VALUE;
            bell = null;
        }
        for (Limit limit = earliest(); limit != null && limit.isReached(); limit = earliest()) {
            if (limits.remove(limit)) {
                limit.action.run();
            }
        }
        setBell();
    }

    private @Nullable Limit earliest() {
        var iterator = limits.iterator();
        return iterator.hasNext() ? iterator.next() : null;
    }

    private long now() {
        return threads.nanoTime() - origin;
    }
}
