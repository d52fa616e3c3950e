package dev.parley.mcp.client;

import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Pauses between the attempts of one recovery: a quarter of a second at least, growing up to five minutes with each attempt that brings
 * nothing. Only progress begins them anew. For one thread.
 */
public final class Pauses {
    static final Backoff BACKOFF = new Backoff(Duration.ofMillis(500), Duration.ofMinutes(5));

    private int failures;

    /** The recovery has brought what it is for. */
    public void progress() {
        failures = 0;
    }

    /** @param wanted pause that the server asked for, which is kept at least; null for none */
    public Duration next(@Nullable Duration wanted) {
        failures++;
        return BACKOFF.after(failures, wanted);
    }

    /** Waits for the next attempt. */
    void await(@Nullable Duration wanted) throws InterruptedException {
        pause(next(wanted));
    }

    /** Waits. Nothing signals the end of such a pause but the interruption of its thread. */
    public static void pause(Duration pause) throws InterruptedException {
        try {
            new CompletableFuture<Void>().get(pause.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException over) {
            return;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
