package dev.parley.server;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory the bodies of running requests may take: for each one, and for all together.
 *
 * <p>What each connection may take without asking is not counted; the number of connections bounds it.
 */
final class BodyBudget {
    /** What the bodies of one connection may take without asking. */
    static final long FREE = 64 * 1024;

    private final long largest;
    private final AtomicLong left;
    private final long all;

    BodyBudget(long largest, long all) {
        this.largest = largest;
        this.all = Math.max(all, 2 * largest);
        this.left = new AtomicLong(this.all);
    }

    /** The most bytes that one body may have. */
    long largest() {
        return largest;
    }

    /** Takes bytes out of what is left; returns false, and takes none, if there are not as many. */
    boolean take(long bytes) {
        if (left.addAndGet(-bytes) < 0) {
            left.addAndGet(bytes);
            return false;
        }
        return true;
    }

    /** The bytes that are taken. */
    long taken() {
        return all - left.get();
    }

    void giveBack(long bytes) {
        left.addAndGet(bytes);
    }
}
