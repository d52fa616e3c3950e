package dev.parley.client.wire;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.WireListener;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;

/**
 * Repeats a request after a failure that another attempt may resolve.
 *
 * <p>The rule: a request that was not sent, or was declined with 429 or 503, is always repeated. A request that may
 * have been lost (a broken connection, 502, 504) is repeated only if the operation is idempotent. A {@code Retry-After} is
 * respected; if it ends after the deadline, there is no other attempt.
 */
public final class Attempts {
    /** One attempt, in the time that is left. */
    public interface Attempt<T> {
        T in(Duration left) throws AttemptFailure, InterruptedException;
    }

    /** Waits; true if the client was closed meanwhile. */
    public interface Pause {
        boolean last(Duration wait) throws InterruptedException;
    }

    private final int retries;
    private final Backoff backoff;
    private final Pause pause;
    private final WireListener listener;

    public Attempts(int retries, Backoff backoff, Pause pause, WireListener listener) {
        this.retries = retries;
        this.backoff = backoff;
        this.pause = pause;
        this.listener = listener;
    }

    /** Returns the result of the first attempt that has one, or throws the exception of the last one. */
    public <T> T run(boolean repeatable, Duration timeout, Attempt<T> attempt) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            for (int failures = 1; ; failures++) {
                Duration left = left(end);
                if (!left.isPositive()) {
                    throw new ClientException(Problem.TIMED_OUT, "the deadline has passed");
                }
                try {
                    return attempt.in(left);
                } catch (AttemptFailure trouble) {
                    Duration wait = backoff.after(failures, trouble.retryAfter());
                    if (failures > retries || !trouble.isMendable(repeatable) || wait.compareTo(left(end)) >= 0) {
                        throw trouble.verdict();
                    }
                    listener.retrying(String.valueOf(trouble.verdict().getMessage()), wait);
                    if (pause.last(wait)) {
                        throw new ClientException(Problem.CLOSED, "the client has been closed", trouble.verdict());
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an answer", e);
        }
    }

    private static Duration left(long end) {
        return Duration.ofNanos(end - System.nanoTime());
    }
}
