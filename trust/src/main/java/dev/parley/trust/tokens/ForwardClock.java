package dev.parley.trust.tokens;

import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Clock for waits: when the clock behind it is put back, it goes on from the time that it showed last, so that no wait becomes as
 * long as the step. Not for dates, such as the expiry of a token. Safe for any thread.
 */
final class ForwardClock implements InstantSource {
    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private long aheadMs;
    private long lastMs = Long.MIN_VALUE;

    ForwardClock(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public long millis() {
        lock.lock();
        try {
            long nowMs = clock.millis() + aheadMs;
            if (nowMs < lastMs) {
                aheadMs += lastMs - nowMs;
                nowMs = lastMs;
            }
            lastMs = nowMs;
            return nowMs;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Instant instant() {
        return Instant.ofEpochMilli(millis());
    }
}
