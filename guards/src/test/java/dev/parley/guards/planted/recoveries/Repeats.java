package dev.parley.guards.planted.recoveries;

import dev.parley.protocol.retry.Backoff;
import java.time.Duration;

/** A recovery with a constant and a back-off of its own, which sleeps. */
public final class Repeats {
    static final Backoff PAUSES = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5));

    private Repeats() {}

    static void repeat() throws InterruptedException {
        Thread.sleep(new Backoff(Duration.ofMillis(1), Duration.ofMillis(2)).after(1, null));
    }
}
