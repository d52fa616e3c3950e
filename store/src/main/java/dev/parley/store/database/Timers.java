package dev.parley.store.database;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Thread that ends statements after their timeout. */
final class Timers {
    private static final ScheduledThreadPoolExecutor CLOCK = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("store-timer").factory());

    static {
        CLOCK.setRemoveOnCancelPolicy(true);
    }

    private Timers() {}

    static ScheduledFuture<?> after(Duration time, Runnable action) {
        return CLOCK.schedule(action, time.toNanos(), TimeUnit.NANOSECONDS);
    }
}
