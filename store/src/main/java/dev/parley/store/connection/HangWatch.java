package dev.parley.store.connection;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tells when one thing takes longer than it may. It costs a field for each, and a timer once in the limit of time while something is
 * under way. One thread begins and ends; what is called when it takes too long runs on the timer's thread, and again after each
 * further limit of time.
 */
public final class HangWatch {
    /** Ends what takes too long: statements, and what this watches. */
    public static final ScheduledThreadPoolExecutor TIMER = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("store-timer").factory());

    static {
        TIMER.setRemoveOnCancelPolicy(true);
    }

    private static final long NONE = 0;

    private final long limitNanos;
    private final Runnable late;
    private final AtomicBoolean isArmed = new AtomicBoolean();
    private final AtomicInteger unhurried = new AtomicInteger();
    private volatile long since = NONE;

    /** @param limit zero for no limit */
    public HangWatch(Duration limit, Runnable late) {
        this.limitNanos = limit.toNanos();
        this.late = late;
    }

    /** Begins, unless it has begun already. */
    public void begin() {
        if (limitNanos > 0 && since == NONE) {
            since = System.nanoTime() | 1;
            arm();
        }
    }

    public void end() {
        since = NONE;
    }

    /** When the limit is over for what is under way, by {@link System#nanoTime}. */
    public long end(long now) {
        long begun = since;
        return (begun == NONE ? now : begun) + limitNanos;
    }

    /** Suspends the limit, as many times as it is called with true and not with false. */
    public void takeTime(boolean isUnhurried) {
        unhurried.addAndGet(isUnhurried ? 1 : -1);
    }

    private void arm() {
        if (isArmed.compareAndSet(false, true)) {
            schedule(limitNanos);
        }
    }

    private void schedule(long nanos) {
        ScheduledFuture<?> unused = TIMER.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
    }

    private void look() {
        long begun = since;
        if (begun == NONE) {
            isArmed.set(false);
            if (since != NONE) {
                arm();
            }
            return;
        }
        long left = begun + limitNanos - System.nanoTime();
        if (left > 0) {
            schedule(left);
            return;
        }
        schedule(limitNanos);
        if (unhurried.get() == 0) {
            late.run();
        }
    }
}
