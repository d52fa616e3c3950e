package dev.parley.store.connection;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Time limit of the operations of one thread. An operation costs the write of a field, a lock that is free, and one timer per limit while
 * operations run. One thread calls {@link #begin} and {@link #end()}. The action for a late operation runs on the timer's thread, and again
 * after each further limit, but never after the end of the operation: {@link #end()} waits for an action that runs.
 */
public final class HangWatch {
    /** Timer of the time limits of statements and watched operations. */
    public static final ScheduledThreadPoolExecutor TIMER = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("store-timer").factory());

    static {
        TIMER.setRemoveOnCancelPolicy(true);
    }

    private static final long NONE = 0;
    private static final Duration ATTEMPT = Duration.ofSeconds(5);

    private final long limitNanos;
    private final Runnable late;
    private final AtomicBoolean isArmed = new AtomicBoolean();
    private final AtomicInteger unhurried = new AtomicInteger();
    private volatile long since = NONE;
    /** Held by an action, and at the end of an operation. */
    private final ReentrantLock ending = new ReentrantLock();

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
        ending.lock();
        try {
            since = NONE;
        } finally {
            ending.unlock();
        }
    }

    /** Time at which the limit of the current operation ends, by {@link System#nanoTime}. */
    public long end(long now) {
        long begun = since;
        return (begun == NONE ? now : begun) + limitNanos;
    }

    /** Returns whether the current operation has taken 5 s: the shortest time for an attempt to connect that no work waits for. */
    public boolean hasHadTime() {
        long begun = since;
        return begun != NONE && System.nanoTime() - begun > ATTEMPT.toNanos();
    }

    /** Suspends the limit until each call with true has been followed by one with false. */
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
        ending.lock();
        try {
            if (since == begun && unhurried.get() == 0) {
                late.run();
            }
        } finally {
            ending.unlock();
        }
    }
}
