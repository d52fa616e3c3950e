package dev.parley.testkit;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until it is moved. Safe for any thread. */
public final class SettableClock implements InstantSource {
    private volatile Instant now;

    /** A clock that shows {@code now}. */
    public SettableClock(Instant now) {
        this.now = now;
    }

    @Override
    public Instant instant() {
        return now;
    }

    /** Moves the clock, forwards or backwards. */
    public synchronized void advance(Duration by) {
        now = now.plus(by);
    }
}
