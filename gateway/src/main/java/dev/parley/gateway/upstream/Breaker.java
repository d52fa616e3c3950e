package dev.parley.gateway.upstream;

import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Circuit breaker of a replica. Failures in a row open it; after a pause a probe decides whether it closes. Calls never serve as
 * probes. Safe for any thread.
 */
public final class Breaker {
    /** State of a breaker, by its number in metrics. */
    public enum State {
        CLOSED,
        HALF_OPEN,
        OPEN
    }

    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private State state = State.CLOSED;
    private int failures;
    private int openings;
    private long retryAt;

    synchronized State state() {
        return state;
    }

    /** Counts a call that the replica has answered. */
    synchronized void succeeded() {
        if (state == State.CLOSED) {
            failures = 0;
        }
    }

    /** Counts an answered probe, which closes a half-open breaker. */
    synchronized void probed() {
        if (state == State.HALF_OPEN) {
            failures = 0;
            state = State.CLOSED;
            openings = 0;
        }
    }

    /** Counts a failure; returns the pause until the probe if it opens the breaker now, else null. */
    synchronized @Nullable Duration failed(UpstreamSettings settings, long now) {
        failures++;
        boolean opens = state == State.HALF_OPEN || state == State.CLOSED && failures >= settings.failures();
        if (!opens) {
            return null;
        }
        state = State.OPEN;
        openings++;
        Duration longest = settings.pause().compareTo(LONGEST_PAUSE) > 0 ? settings.pause() : LONGEST_PAUSE;
        Duration pause = new Backoff(settings.pause(), longest).bound(openings);
        retryAt = now + pause.toNanos();
        return pause;
    }

    /** Begins the probe of an open breaker. */
    synchronized void probing() {
        if (state == State.OPEN) {
            state = State.HALF_OPEN;
        }
    }

    /** Time until the probe of an open breaker, at least a second, for callers. */
    synchronized Duration left(long now) {
        return Duration.ofNanos(Math.max(Duration.ofSeconds(1).toNanos(), retryAt - now));
    }
}
