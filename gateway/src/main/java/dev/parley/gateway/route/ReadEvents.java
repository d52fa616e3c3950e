package dev.parley.gateway.route;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Events of a task of an agent without streams: the task is read again and again, and what has changed are the events. Ends when the task has
 * ended, or waits for its caller.
 */
final class ReadEvents implements Feed<LoggedEvent> {
    /** Pauses between reads that bring nothing new; the first one after a change is short again. */
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(250), Duration.ofSeconds(5));

    private static final int MOST_FAILURES = 5;

    private final Supplier<Task> read;
    private final CountDownLatch closed = new CountDownLatch(1);
    private List<LoggedEvent> ready;
    private Task last;
    private long due;
    private int idle;
    private int failures;

    ReadEvents(Task first, Supplier<Task> read) {
        this.read = read;
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
            if (closed.await(Math.max(0, Math.min(due, until) - now), TimeUnit.NANOSECONDS)) {
                return null;
            }
            if (System.nanoTime() - due >= 0) {
                readAgain();
            } else if (System.nanoTime() - until >= 0) {
                return List.of();
            }
        }
        return null;
    }

    private void readAgain() {
        Task task;
        try {
            task = read.get();
        } catch (A2AException refused) {
            boolean passing = refused.error() == A2AError.UNAVAILABLE || refused.error() == A2AError.RATE_LIMITED;
            if (!passing || ++failures >= MOST_FAILURES) {
                throw refused;
            }
            pause();
            return;
        }
        failures = 0;
        ready = changes(last, task);
        last = task;
        idle = ready.isEmpty() ? idle : 0;
        pause();
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
    }
}
