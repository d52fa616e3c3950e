package dev.parley.protocol.support;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A count of changes, for the next of which readers wait. A reader takes the count, looks at what may change, and then waits for another
 * count, so that it misses none. Safe for any thread.
 */
public final class ChangeCount {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition isChanged = lock.newCondition();
    private final AtomicLong count = new AtomicLong();

    /** Returns the number of changes until now. */
    public long count() {
        return count.get();
    }

    /** Counts a change, and wakes the readers. */
    public void add() {
        lock.lock();
        try {
            count.incrementAndGet();
            isChanged.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the count is another one than {@code before}, for {@code nanos} at most. */
    public void await(long before, long nanos) throws InterruptedException {
        long left = nanos;
        lock.lockInterruptibly();
        try {
            while (count.get() == before && left > 0) {
                left = isChanged.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
