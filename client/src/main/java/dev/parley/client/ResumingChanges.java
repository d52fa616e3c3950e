package dev.parley.client;

import dev.parley.client.ClientException.Problem;
import dev.parley.dialect.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.KnowledgeEndpoint.Changes;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A subscription that outlives its connections: after a cut it goes on behind the last change seen.
 *
 * <p>Before the first change there is nothing to go on behind, so what happens while such a stream is cut is missed;
 * whoever cannot bear that asks for a snapshot, which then begins anew. Each attempt has a thread of its own, so that a
 * reader waits no longer than it wants to.
 */
final class ResumingChanges implements Changes {
    /** Subscribes in one attempt. */
    interface Opening {
        Changes open(Subscribe subscription) throws Trouble, InterruptedException;
    }

    private final ClientSettings settings;
    private final HttpWire wire;
    private final Opening opening;
    private Subscribe subscription;
    private volatile Changes changes;
    private volatile @Nullable FutureTask<Changes> resumption;
    private volatile boolean closed;
    private boolean over;
    private int failures;

    /** @param changes the first connection */
    ResumingChanges(ClientSettings settings, HttpWire wire, Subscribe subscription, Opening opening, Changes changes) {
        this.settings = settings;
        this.wire = wire;
        this.subscription = subscription;
        this.opening = opening;
        this.changes = changes;
    }

    @Override
    public @Nullable List<Change> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (!closed && !over) {
            Duration left = Duration.ofNanos(until - System.nanoTime());
            FutureTask<Changes> resuming = resumption;
            if (resuming == null) {
                List<Change> next = read(left);
                if (next != null) {
                    return next;
                }
            } else if (!isOver(resuming, left)) {
                return List.of();
            }
        }
        return null;
    }

    /** Returns null if the stream has ended or was cut. */
    private @Nullable List<Change> read(Duration left) throws InterruptedException {
        try {
            List<Change> next = changes.next(left);
            if (next == null) {
                cut(null, new ClientException(Problem.LOST, "the agent closed the stream"));
            } else if (!next.isEmpty()) {
                failures = 0;
                var metadata = new LinkedHashMap<String, @Nullable Object>(subscription.metadata());
                metadata.put("afterChangeId", next.getLast().changeId());
                metadata.remove("snapshot");
                subscription = subscription.with(metadata);
            }
            return next;
        } catch (Broken broken) {
            var told = new ClientException(
                    broken.kind() == Broken.Kind.LOST ? Problem.LOST : Problem.STREAM_CUT,
                    "the subscription broke: " + broken.getMessage(),
                    broken);
            if (told.problem() != Problem.LOST) {
                throw end(told);
            }
            cut(null, told);
        } catch (ClientException lost) {
            if (lost.problem() != Problem.LOST) {
                throw end(lost);
            }
            cut(null, lost);
        } catch (A2AException told) {
            if (told.error() != A2AError.UNAVAILABLE && told.error() != A2AError.RATE_LIMITED) {
                throw end(told);
            }
            cut(told.retryAfter(), told);
        }
        return null;
    }

    private void cut(@Nullable Duration retryAfter, RuntimeException cause) {
        changes.close();
        if (closed || wire.isClosed()) {
            over = true;
        } else if (failures >= settings.reconnects()) {
            throw end(new ClientException(
                    Problem.STREAM_CUT,
                    "the subscription broke and could not be resumed in " + failures + " attempts: "
                            + cause.getMessage(),
                    cause));
        } else {
            failures++;
            Duration wait = settings.backoff().after(failures, retryAfter);
            settings.listener().retrying("the subscription was cut: " + cause.getMessage(), wait);
            Subscribe from = subscription;
            var next = new FutureTask<>(() -> resume(from, wait));
            resumption = next;
            if (closed) { // close() may have looked before
                next.cancel(true);
            }
            Thread.ofVirtual().name("parley-resume").start(next);
        }
    }

    private Changes resume(Subscribe from, Duration wait) throws Trouble, InterruptedException {
        if (wire.pause(wait)) {
            throw new ClientException(Problem.CLOSED, "the client has been closed");
        }
        return opening.open(from);
    }

    /** Waits for an attempt, and goes by what came of it; false if that is not known yet. */
    private boolean isOver(FutureTask<Changes> resuming, Duration left) throws InterruptedException {
        try {
            changes = resuming.get(left.toNanos(), TimeUnit.NANOSECONDS);
            resumption = null;
            if (closed) {
                changes.close();
            }
        } catch (TimeoutException e) {
            return false;
        } catch (CancellationException e) {
            over = true;
        } catch (ExecutionException e) {
            resumption = null;
            switch (e.getCause()) {
                case Trouble trouble -> cut(trouble.retryAfter(), trouble.verdict());
                case RuntimeException problem when wire.isClosed() -> over = true;
                case RuntimeException problem -> throw end(problem);
                case null, default -> throw end(new IllegalStateException(e));
            }
        }
        return true;
    }

    private RuntimeException end(RuntimeException problem) {
        over = true;
        return problem;
    }

    @Override
    public void close() {
        closed = true;
        FutureTask<Changes> resuming = resumption;
        if (resuming != null && !resuming.cancel(true) && resuming.state() == FutureTask.State.SUCCESS) {
            resuming.resultNow().close();
        }
        changes.close();
    }
}
