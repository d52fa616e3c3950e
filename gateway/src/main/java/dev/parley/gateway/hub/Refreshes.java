package dev.parley.gateway.hub;

import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.retry.Backoff.Growth;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Schedule of the cards that are read again: those of hosted routes in an interval, those of waiting routes sooner, with a back-off. A slow
 * agent delays its own card only. Safe for any thread.
 */
final class Refreshes {
    /** Outcome of an attempt. */
    enum Outcome {
        HOSTED,
        WAITING,
        REMOVED
    }

    private static final Duration SOON = Duration.ofMillis(500);
    private static final int AT_ONCE = 16;

    /** Most of the interval, and a random part of the rest, so that cards are not read all at once. */
    private final Backoff spread;

    private final Backoff pauses;
    private final ScheduledExecutorService timer;
    private final Function<String, Outcome> attempt;
    private final Semaphore free = new Semaphore(AT_ONCE);
    private final Set<String> names = new HashSet<>();
    private final Map<String, Integer> failures = new HashMap<>();

    /** @param attempt reads the card of a route; does not throw */
    Refreshes(Duration interval, ScheduledExecutorService timer, Function<String, Outcome> attempt) {
        this.spread = new Backoff(interval, interval, Growth.LINEAR, 0.9);
        this.pauses = new Backoff(interval.compareTo(SOON) < 0 ? interval : SOON, interval);
        this.timer = timer;
        this.attempt = attempt;
    }

    /** Begins to read the card of a route, unless that has begun. */
    void add(String name, boolean hosted) {
        synchronized (this) {
            if (!names.add(name)) {
                return;
            }
        }
        after(name, hosted ? spread.after(1, null) : Duration.ZERO);
    }

    private void after(String name, Duration pause) {
        try {
            var unused = timer.schedule(
                    () -> Thread.ofVirtual().name("gateway-card").start(() -> read(name)),
                    pause.toMillis(),
                    TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            synchronized (this) {
                names.remove(name);
            }
        }
    }

    private void read(String name) {
        Outcome outcome;
        try {
            free.acquire();
            try {
                outcome = attempt.apply(name);
            } finally {
                free.release();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return;
        }
        Duration pause;
        synchronized (this) {
            if (outcome != Outcome.WAITING) {
                failures.remove(name);
            }
            if (outcome == Outcome.REMOVED) {
                names.remove(name);
                return;
            }
            pause = outcome == Outcome.HOSTED
                    ? spread.after(1, null)
                    : pauses.after(failures.merge(name, 1, Integer::sum), null);
        }
        after(name, pause);
    }
}
