package dev.parley.client;

import dev.parley.client.ClientException.Problem;
import dev.parley.dialect.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A stream by way of a {@link dev.parley.dialect.Transport} that outlives its connections.
 *
 * <p>Nothing on such a wire numbers the events, so one that was cut goes on with the task as it stands, by subscribing to
 * it. What counts as cut, and what as the end, is the same as in {@link ResumingStream}. Each attempt has a thread of its
 * own, so that a reader waits no longer than it wants to.
 */
final class RemoteStream implements EventStream {
    private final RemoteClient client;
    private final ClientSettings settings;
    private final HttpWire wire;
    private final Operation.Watch operation;
    private final CallContext context;
    private volatile EventStream events;
    private volatile @Nullable FutureTask<EventStream> resumption;
    private volatile boolean closed;

    private @Nullable String taskId;
    private @Nullable TaskState state;
    private boolean answered;
    private boolean over;
    private int failures;

    RemoteStream(RemoteClient client, Operation.Watch operation, CallContext context, EventStream events) {
        this.client = client;
        this.settings = client.means().settings();
        this.wire = client.means().wire();
        this.operation = operation;
        this.context = context;
        this.events = events;
        if (operation instanceof Operation.SubscribeToTask subscribe) {
            taskId = subscribe.id();
        }
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (!closed && !over) {
            Duration left = Duration.ofNanos(until - System.nanoTime());
            FutureTask<EventStream> resuming = resumption;
            if (resuming == null) {
                List<LoggedEvent> next = read(left);
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
    private @Nullable List<LoggedEvent> read(Duration left) throws InterruptedException {
        try {
            List<LoggedEvent> next = events.next(left);
            if (next != null) {
                next.forEach(this::note);
            } else if (closed || (state != null && state.isInterrupted())) {
                over = true;
            } else {
                cut(null, new ClientException(Problem.LOST, "the agent closed the stream"));
            }
            return next;
        } catch (Broken broken) {
            if (broken.kind() != Broken.Kind.LOST) {
                throw end(client.told(broken));
            }
            cut(null, client.told(broken));
        } catch (A2AException e) {
            if (e.error() != A2AError.UNAVAILABLE && e.error() != A2AError.RATE_LIMITED) {
                throw end(e);
            }
            cut(e.retryAfter(), e);
        }
        return null;
    }

    private void note(LoggedEvent event) {
        failures = 0;
        switch (event.event()) {
            case Task task -> {
                taskId = task.id();
                state = task.state();
            }
            case Message message -> answered = true;
            case TaskStatusUpdateEvent update -> {
                taskId = update.taskId();
                state = update.status().state();
            }
            case TaskArtifactUpdateEvent update -> taskId = update.taskId();
        }
    }

    private void cut(@Nullable Duration retryAfter, RuntimeException cause) {
        events.close();
        String id = taskId;
        if (closed || wire.isClosed() || answered || (state != null && state.isTerminal())) {
            over = true;
        } else if (id == null) {
            throw end(new ClientException(
                    Problem.LOST,
                    "the stream broke before the agent named a task; whether there is one is unknown",
                    cause));
        } else if (failures >= settings.reconnects()) {
            throw end(new ClientException(
                    Problem.STREAM_CUT,
                    "the stream of task " + id + " broke and could not be resumed in " + failures + " attempts: "
                            + cause.getMessage(),
                    cause));
        } else {
            failures++;
            Duration wait = settings.backoff().after(failures, retryAfter);
            settings.listener().retrying("the stream of task " + id + " was cut: " + cause.getMessage(), wait);
            var next = new FutureTask<>(() -> resume(id, wait));
            resumption = next;
            if (closed) { // close() may have looked before
                next.cancel(true);
            }
            Thread.ofVirtual().name("parley-resume").start(next);
        }
    }

    private EventStream resume(String id, Duration wait) throws Trouble, InterruptedException {
        if (wire.pause(wait)) {
            throw new ClientException(Problem.CLOSED, "the client has been closed");
        }
        try {
            return client.subscribe(new Operation.SubscribeToTask(operation.tenant(), id, null), context);
        } catch (A2AException refusal) {
            if (refusal.error() == A2AError.UNSUPPORTED_OPERATION) { // it has probably ended meanwhile
                Task task = client.call(new Operation.GetTask(operation.tenant(), id, null), context);
                if (task.state().isTerminal()) {
                    return new Last(task);
                }
            }
            throw refusal;
        }
    }

    /** Waits for an attempt, and goes by what came of it; false if that is not known yet. */
    private boolean isOver(FutureTask<EventStream> resuming, Duration left) throws InterruptedException {
        try {
            events = resuming.get(left.toNanos(), TimeUnit.NANOSECONDS);
            resumption = null;
            if (closed) {
                events.close();
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
        FutureTask<EventStream> resuming = resumption;
        if (resuming != null && !resuming.cancel(true) && resuming.state() == FutureTask.State.SUCCESS) {
            resuming.resultNow().close();
        }
        events.close();
    }

    /** The task as it ended, for who missed the rest of the stream. */
    private static final class Last implements EventStream {
        private @Nullable Task task;

        Last(Task task) {
            this.task = task;
        }

        @Override
        public @Nullable List<LoggedEvent> next(Duration patience) {
            Task last = task;
            task = null;
            return last == null ? null : List.of(new LoggedEvent(0, last));
        }

        @Override
        public void close() {}
    }
}
