package dev.parley.gateway.route;

import dev.parley.gateway.upstream.Upstream;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Events of a task of an agent without streams: the task is read again and again while a reader waits, and what has changed are the
 * events. Ends when the task has ended, or waits for its caller, or after the time limit of streams. Each read has a thread of its own, so
 * that a reader waits no longer than its timeout; {@link #close} gives it up.
 */
final class ReadEvents implements Feed<LoggedEvent> {
    /** Pauses between reads that bring nothing new; the first one after a change is short again. */
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(250), Duration.ofSeconds(5));

    private static final int MOST_FAILURES = 5;

    private final Supplier<Task> read;
    private final Duration limit;
    private final long end;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable FutureTask<Task> reading;
    private List<LoggedEvent> ready;
    private Task last;
    private long due;
    private int idle;
    private int failures;

    /**
     * @param read blocks; is given up when its thread is interrupted
     * @param limit of the stream
     */
    ReadEvents(Task first, Supplier<Task> read, Duration limit) {
        this.read = read;
        this.limit = limit;
        this.end = System.nanoTime() + limit.toNanos();
        this.last = first;
        this.ready = List.of(new LoggedEvent(0, first));
        pause();
    }

    private void pause() {
        idle++;
        due = System.nanoTime() + PAUSES.bound(idle).toNanos();
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (closed.getCount() > 0) {
            if (!ready.isEmpty()) {
                List<LoggedEvent> events = ready;
                ready = List.of();
                return events;
            }
            if (last.state().isSettled()) {
                return null;
            }
            long now = System.nanoTime();
            if (end - now <= 0) {
                close();
                throw Upstream.passed(limit);
            }
            long left = Math.max(0, Math.min(until, end) - now);
            FutureTask<Task> under = reading;
            if (under != null) {
                if (!isRead(under, left)) {
                    return closed.getCount() > 0 ? List.of() : null;
                }
            } else if (closed.await(Math.max(0, Math.min(due - now, left)), TimeUnit.NANOSECONDS)) {
                return null;
            } else if (System.nanoTime() - due >= 0) {
                begin();
            } else if (System.nanoTime() - until >= 0) {
                return List.of();
            }
        }
        return null;
    }

    private void begin() {
        var next = new FutureTask<>(read::get);
        reading = next;
        if (closed.getCount() == 0) { // close() may have looked before
            next.cancel(true);
        }
        Thread.ofVirtual().name("gateway-read").start(next);
    }

    /** Waits for a read, and takes its result; false if there is none yet. */
    private boolean isRead(FutureTask<Task> under, long nanos) throws InterruptedException {
        try {
            Task task = under.get(nanos, TimeUnit.NANOSECONDS);
            failures = 0;
            ready = changes(last, task);
            last = task;
            idle = ready.isEmpty() ? idle : 0;
        } catch (TimeoutException later) {
            return false;
        } catch (CancellationException left) {
            return false;
        } catch (ExecutionException failed) {
            if (!(failed.getCause() instanceof A2AException refused)) {
                throw failed.getCause() instanceof RuntimeException defect ? defect : new IllegalStateException(failed);
            }
            boolean passing = refused.error() == A2AError.UNAVAILABLE || refused.error() == A2AError.RATE_LIMITED;
            if (!passing || ++failures >= MOST_FAILURES) {
                throw refused;
            }
        }
        reading = null;
        pause();
        return true;
    }

    private static List<LoggedEvent> changes(Task before, Task now) {
        var changes = new ArrayList<LoggedEvent>();
        Map<String, Artifact> artifacts = new HashMap<>();
        before.artifacts().forEach(artifact -> artifacts.put(artifact.artifactId(), artifact));
        for (Artifact artifact : now.artifacts()) {
            if (!artifact.equals(artifacts.get(artifact.artifactId()))) {
                changes.add(new LoggedEvent(
                        0, new TaskArtifactUpdateEvent(now.id(), now.contextId(), artifact, false, true, Map.of())));
            }
        }
        if (before.state() != now.state()
                || !Objects.equals(before.status().message(), now.status().message())) {
            changes.add(
                    new LoggedEvent(0, new TaskStatusUpdateEvent(now.id(), now.contextId(), now.status(), Map.of())));
        }
        return changes;
    }

    @Override
    public void close() {
        closed.countDown();
        FutureTask<Task> under = reading;
        if (under != null) {
            under.cancel(true);
        }
    }
}
