package dev.parley.client.calls;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.Place;
import dev.parley.client.wire.Trouble;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream by way of a {@link dev.parley.dialect.Transport}.
 *
 * <p>Nothing on such a wire numbers the events, so one that was cut goes on with the task as it stands, by subscribing to
 * it. What counts as cut, and what as the end, is the same as in {@link ResumingStream}.
 */
public final class RemoteStream extends ResumingFeed<LoggedEvent> {
    private final Calls calls;
    private final AgentEndpoint endpoint;
    private final Place.ByTransport place;
    private final Operation.TaskWatch operation;
    private final CallContext context;

    private @Nullable String taskId;
    private @Nullable TaskState state;
    private boolean answered;
    private boolean begun;

    private RemoteStream(
            Calls calls,
            AgentEndpoint endpoint,
            Place.ByTransport place,
            CallContext context,
            Operation.TaskWatch operation,
            Feed<LoggedEvent> first) {
        super(calls.means().settings(), calls.means().wire(), first);
        this.calls = calls;
        this.endpoint = endpoint;
        this.place = place;
        this.operation = operation;
        this.context = context;
        if (operation instanceof Operation.SubscribeToTask subscribe) {
            taskId = subscribe.id();
            begun = subscribe.after() != null; // who goes on somewhere has the task already
        }
    }

    /**
     * Opens a stream in one attempt.
     *
     * @param endpoint the agent, which is asked for the task that has ended meanwhile
     * @throws Trouble if another attempt may help, here or elsewhere
     */
    public static RemoteStream open(
            Calls calls,
            AgentEndpoint endpoint,
            Place.ByTransport place,
            CallContext context,
            Operation.TaskWatch operation,
            Duration left)
            throws Trouble, InterruptedException {
        return new RemoteStream(
                calls, endpoint, place, context, operation, watch(calls, place, context, operation, left));
    }

    private static Feed<LoggedEvent> watch(
            Calls calls, Place.ByTransport place, CallContext context, Operation.TaskWatch operation, Duration left)
            throws Trouble, InterruptedException {
        return calls.remotes()
                .ask(place, context, left, (agent, caller, headers) -> agent.watch(operation, caller, headers));
    }

    @Override
    String name() {
        return "the stream of task " + taskId;
    }

    @Override
    List<LoggedEvent> shown(List<LoggedEvent> next) {
        var shown = new ArrayList<LoggedEvent>();
        for (LoggedEvent event : next) {
            if (isDone(false)) {
                break; // before 1.0, the end of a task that was shown whole is repeated
            }
            note(event);
            if (!begun && !answered) {
                shown.add(ResumingStream.beginning(event.event()));
                begun = true;
            }
            shown.add(event);
        }
        return shown;
    }

    private void note(LoggedEvent event) {
        switch (event.event()) {
            case Task task -> {
                begun = true;
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

    @Override
    boolean isDone(boolean orderly) {
        return answered || state != null && (state.isTerminal() || orderly && state.isInterrupted());
    }

    @Override
    Opening<LoggedEvent> again(RuntimeException cause) {
        String id = taskId;
        if (id == null) {
            throw new ClientException(
                    Problem.LOST,
                    "the stream broke before the agent named a task; whether there is one is unknown",
                    cause);
        }
        var subscription = new Operation.SubscribeToTask(operation.tenant(), id, null);
        Duration patience = calls.means().settings().callTimeout();
        return () -> watch(calls, place, context, subscription, patience);
    }

    /** The ended task, which is probably why the subscription was refused. */
    @Override
    Feed<LoggedEvent> rest(RuntimeException refusal) {
        String id = taskId;
        if (id != null && ResumingStream.mayHaveEnded(refusal)) {
            Task task = endpoint.call(new Operation.GetTask(operation.tenant(), id, null), context);
            if (task.state().isTerminal()) {
                return new Last(task);
            }
        }
        throw refusal;
    }

    /** The task as it ended, for who missed the rest of the stream. */
    private static final class Last implements Feed<LoggedEvent> {
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
