package dev.parley.store.shared;

import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/**
 * Clock of the database, for what all hubs must agree on whatever their own clocks say. It goes on by the monotonic clock of this program
 * between two readings, which come with each renewal of the lease, so it differs from that of another hub by the time that an answer takes;
 * after a jump of the clock of the database, until the next renewal of both. Safe for any thread.
 */
public final class DatabaseClock implements InstantSource {
    /** Query for the time in milliseconds. */
    public static final String MILLIS = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

    private record Reading(long millis, long nanos) {}

    private volatile Reading latest = new Reading(System.currentTimeMillis(), System.nanoTime());

    /**
     * Takes a time of the database.
     *
     * @param askedAt when the question was sent, by {@link System#nanoTime}
     */
    public void read(long millis, long askedAt) {
        latest = new Reading(millis, askedAt);
    }

    @Override
    public long millis() {
        Reading before = latest;
        return before.millis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before.nanos);
    }

    @Override
    public Instant instant() {
        return Instant.ofEpochMilli(millis());
    }
}
