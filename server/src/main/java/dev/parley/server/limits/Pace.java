package dev.parley.server.limits;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Has steps of many threads follow each other at an interval, in the order in which they were asked for. Safe for any thread. */
public final class Pace {
    private final long intervalNanos;
    private final AtomicLong next = new AtomicLong(System.nanoTime());

    /** Creates a pace of one step each interval. */
    public Pace(Duration interval) {
        this.intervalNanos = interval.toNanos();
    }

    /** Waits for the turn of a step, or until the thread is interrupted. */
    public void awaitTurn() {
        long now = System.nanoTime();
        long turn = next.updateAndGet(last -> (last - now > 0 ? last : now) + intervalNanos);
        for (long left = turn - now;
                left > 0 && !Thread.currentThread().isInterrupted();
                left = turn - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }
}
