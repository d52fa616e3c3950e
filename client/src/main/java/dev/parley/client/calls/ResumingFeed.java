package dev.parley.client.calls;

import static java.util.Objects.requireNonNullElse;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Stream of an agent that is resumed over several connections. Each attempt has a thread of its own, so that a
 * reader waits no longer than its timeout.
 */
abstract class ResumingFeed<E> implements Feed<E> {
    /** Goes on, in one attempt. */
    interface Opening<E> {
        Feed<E> open() throws AttemptFailure, InterruptedException;
    }

    private final ClientSettings settings;
    private final HttpWire wire;
    private volatile Feed<E> feed;
    private volatile @Nullable FutureTask<Feed<E>> resumption;
    private volatile boolean closed;
    private boolean over;
    /** Connections since one brought anything. */
    private int failures;
    /** Connections since one brought something new. Without progress the pauses grow, however healthy the connections are. */
    private int idle;
    /** Time after which a stream that has ended is abandoned if its server has not closed it. */
    private long leaveAt;

    /** @param first the first connection */
    ResumingFeed(ClientSettings settings, HttpWire wire, Feed<E> first) {
        this.settings = settings;
        this.wire = wire;
        this.feed = first;
    }

    /** Name in messages. */
    abstract String name();

    /** Records the position of received elements, and returns those that the reader receives. */
    abstract List<E> shown(List<E> news);

    /** True if nothing more can come; {@code orderly} if the agent has ended the stream, rather than the connection. */
    abstract boolean isDone(boolean orderly);

    /**
     * Returns the feed that continues after the received elements.
     *
     * @throws ClientException if there is no way
     */
    abstract Opening<E> again(RuntimeException cause);

    /** Returns what there is still to tell although the agent refuses to go on; throws {@code refusal} if that is nothing. */
    Feed<E> rest(RuntimeException refusal) {
        throw refusal;
    }

    /** Returns the outcome if there is nothing more to come than that; null if there may be more. Blocks. */
    @Nullable
    Feed<E> outcome() {
        return null;
    }

    @Override
    public @Nullable List<E> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (!closed && !over) {
            Duration left = Duration.ofNanos(until - System.nanoTime());
            FutureTask<Feed<E>> resuming = resumption;
            if (resuming == null) {
                List<E> next = read(left);
                if (next != null) {
                    return next;
                }
                if (!over && System.nanoTime() - until >= 0) {
                    return List.of(); // also within elements that are not shown
                }
            } else if (!isOver(resuming, left)) {
                return List.of();
            }
        }
        return null;
    }

    /** Returns null if the stream has ended or was cut, or nothing of what came is shown. */
    private @Nullable List<E> read(Duration left) throws InterruptedException {
        try {
            boolean done = isDone(false);
            long wait = left.toNanos();
            List<E> next = feed.next(Duration.ofNanos(done ? Math.min(wait, leaveAt - System.nanoTime()) : wait));
            if (next == null) {
                lost(new ClientException(Problem.LOST, "the agent closed the stream"), true);
            } else if (!next.isEmpty()) {
                failures = 0;
                List<E> shown = shown(next);
                idle = shown.isEmpty() ? idle : 0;
                leaveAt = System.nanoTime() + settings.silence(true).toNanos();
                return shown.isEmpty() ? null : shown;
            } else if (done && System.nanoTime() - leaveAt >= 0) {
                feed.close();
                finish();
                return null;
            }
            return next;
        } catch (Broken broken) {
            lost(Remotes.failure(name(), broken), false);
        } catch (ClientException problem) {
            lost(problem, false);
        } catch (A2AException answer) {
            if (answer.error() == A2AError.UNAVAILABLE || answer.error() == A2AError.RATE_LIMITED) {
                cut(answer.retryAfter(), answer, false);
            } else if (failures > 0) {
                attempt(() -> rest(answer)); // some servers refuse to resume only after the stream has begun
            } else {
                throw end(answer);
            }
        }
        return null;
    }

    private void lost(ClientException problem, boolean orderly) {
        if (problem.problem() != Problem.LOST) {
            throw end(problem);
        }
        if (failures == 0 || closed || wire.isClosed() || isDone(orderly)) {
            cut(null, problem, orderly);
            return;
        }
        // Servers that find out too late that there is nothing more break off a stream that was resumed, without an
        // element.
        feed.close();
        attempt(() -> {
            Feed<E> outcome = outcome();
            if (outcome == null) {
                throw new AttemptFailure(AttemptFailure.Kind.LOST, null, problem);
            }
            return outcome;
        });
    }

    private void cut(@Nullable Duration retryAfter, RuntimeException cause, boolean orderly) {
        Duration asked = feed.retry();
        feed.close();
        if (closed || wire.isClosed()) {
            over = true;
            return;
        }
        if (isDone(orderly)) {
            finish();
            return;
        }
        Opening<E> again;
        try {
            again = again(cause);
        } catch (ClientException | A2AException hopeless) {
            throw end(hopeless);
        }
        if (failures >= settings.reconnects()) {
            throw end(new ClientException(
                    Problem.STREAM_CUT,
                    name() + " broke and could not be resumed in " + failures + " attempts: " + cause.getMessage(),
                    cause));
        }
        failures++;
        idle++;
        Duration wait = pause(requireNonNullElse(retryAfter, Duration.ZERO), requireNonNullElse(asked, Duration.ZERO));
        settings.listener().retrying(name() + " was cut: " + cause.getMessage(), wait);
        attempt(() -> {
            if (wire.pause(wait)) {
                throw new ClientException(Problem.CLOSED, "the client has been closed");
            }
            return goOn(again);
        });
    }

    /**
     * The pause before the next connection.
     *
     * @param asked by the stream; zero for none
     */
    private Duration pause(Duration retryAfter, Duration asked) {
        Backoff backoff = settings.backoff();
        Duration polite = asked.compareTo(backoff.longest()) < 0 ? asked : backoff.longest();
        return backoff.after(idle, Collections.max(List.of(polite, retryAfter)));
    }

    /** Ends the stream, after what the agent has told elsewhere. */
    private void finish() {
        Opening<E> more = more();
        if (more == null) {
            over = true;
        } else {
            attempt(more::open);
        }
    }

    /** Returns the opening that continues after the last element; null if there is none. */
    @Nullable
    Opening<E> more() {
        return null;
    }

    private Feed<E> goOn(Opening<E> again) throws AttemptFailure, InterruptedException {
        try {
            return again.open();
        } catch (A2AException refusal) {
            return rest(refusal);
        } catch (AttemptFailure trouble) {
            if (trouble.isMendable(true) || trouble.verdict() instanceof ClientException) {
                throw trouble;
            }
            return rest(trouble.verdict());
        }
    }

    private void attempt(Callable<Feed<E>> way) {
        var next = new FutureTask<>(way);
        resumption = next;
        if (closed) { // close() may have looked before
            next.cancel(true);
        }
        Thread.ofVirtual().name("parley-resume").start(next);
    }

    /** Waits for an attempt and applies its result; false if it has none yet. */
    private boolean isOver(FutureTask<Feed<E>> resuming, Duration left) throws InterruptedException {
        try {
            feed = resuming.get(left.toNanos(), TimeUnit.NANOSECONDS);
            resumption = null;
            if (closed) {
                feed.close();
            }
        } catch (TimeoutException e) {
            return false;
        } catch (CancellationException e) {
            over = true;
        } catch (ExecutionException e) {
            resumption = null;
            switch (e.getCause()) {
                case AttemptFailure trouble -> cut(trouble.retryAfter(), trouble.verdict(), false);
                case RuntimeException problem when wire.isClosed() -> over = true;
                case ClientException late when late.problem() == Problem.TIMED_OUT -> cut(null, late, false);
                case RuntimeException problem -> throw end(problem);
                case null, default -> throw end(new IllegalStateException(e));
            }
        }
        return true;
    }

    private RuntimeException end(RuntimeException problem) {
        feed.close();
        over = true;
        return problem;
    }

    @Override
    public void close() {
        closed = true;
        FutureTask<Feed<E>> resuming = resumption;
        if (resuming != null && !resuming.cancel(true) && resuming.state() == FutureTask.State.SUCCESS) {
            resuming.resultNow().close();
        }
        feed.close();
    }
}
