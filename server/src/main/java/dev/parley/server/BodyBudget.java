package dev.parley.server;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory the bodies of running requests may take: for each one, and for all together.
 *
 * <p>Small bodies are not counted together; the number of connections bounds them.
 */
final class BodyBudget {
    /** What a body may take without asking. */
    static final long FREE = 64 * 1024;

    private final long largest;
    private final AtomicLong left;

    BodyBudget(long largest, long all) {
        this.largest = largest;
        this.left = new AtomicLong(Math.max(all, 2 * largest));
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

    void giveBack(long bytes) {
        left.addAndGet(bytes);
    }
}
