package dev.parley.gateway.upstream;

import java.util.concurrent.TimeUnit;

/**
 * Measured load of a replica: a moving average of its latencies that follows increases at once, and its open calls. Safe for any
 * thread.
 */
final class Load {
    private static final double DECAY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private double average;
    private long updated;
    private int outstanding;

    /** Takes a place for a call or stream; false if all are taken. */
    synchronized boolean begin(int most) {
        if (outstanding >= most) {
            return false;
        }
        outstanding++;
        return true;
    }

    synchronized void end() {
        outstanding--;
    }

    synchronized void measured(long nanos, long now) {
        if (nanos > average) {
            average = nanos;
        } else {
            double kept = Math.exp(-(now - updated) / DECAY_NANOS);
            average = average * kept + nanos * (1 - kept);
        }
        updated = now;
    }

    /** Expected wait of another call; it fades while there are no calls, so that a replica that was slow is tried again. */
    synchronized double cost(long now, int weight) {
        double faded = average * Math.exp(-Math.max(0, now - updated) / DECAY_NANOS);
        return (faded + 1) * (outstanding + 1) / weight;
    }

    synchronized int outstanding() {
        return outstanding;
    }
}
