package dev.parley.client.calls;

import static java.util.Objects.requireNonNullElse;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.AgentAddress;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.HttpWire;
import dev.parley.dialect.spi.Binding;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The events of a task, over several connections. A stream goes on after the end of its connection as follows:
 *
 * <ul>
 *   <li>The task has ended, or the answer was a message: it is over.
 *   <li>The server closed it in good order while the task waits for its caller: it is over too, some servers do that.
 *   <li>Else it was cut, and the task is subscribed to from after the last number seen. A server that ignores that
 *       begins with a snapshot, which is then the next event. One that refuses because the task has ended meanwhile, or
 *       that breaks off at once, is asked for the task, and if it has ended that is the last event.
 * </ul>
 */
public final class TaskEvents extends ResumingFeed<LoggedEvent> {
    /** Errors by which servers refuse a subscription to a task that has ended. */
    private static final Set<A2AError> ENDED =
            Set.of(A2AError.UNSUPPORTED_OPERATION, A2AError.METHOD_NOT_FOUND, A2AError.INVALID_PARAMS);

    private static final String EVENT_STREAM = "text/event-stream";
    private static final System.Logger LOG = System.getLogger("dev.parley.client");

    private final Calls calls;
    private final AgentEndpoint endpoint;
    private final CallContext context;
    private final Operation.TaskWatch operation;

    private volatile @Nullable String taskId;
    private @Nullable TaskState state;
    private boolean answered;
    private boolean begun;
    private long last;
    private long resumedBehind;
    /** The last whole task that came, without its time; null for none. */
    private @Nullable Task snapshot;
    /** The last status that came. */
    private @Nullable TaskStatus status;
    /** Whether the next event is the first one of a connection other than the first. */
    private boolean reconnected;

    private boolean hasArtifact;
    /** The end of the task, which is shown after artifacts that are yet to be read; null for none. */
    private @Nullable LoggedEvent held;
    /** Whether what comes is the end of the task with these artifacts. */
    private boolean readsEnd;

    private TaskEvents(
            Calls calls,
            AgentEndpoint endpoint,
            CallContext context,
            Operation.TaskWatch operation,
            Feed<LoggedEvent> first) {
        super(calls.means().settings(), calls.means().wire(), first);
        this.calls = calls;
        this.endpoint = endpoint;
        this.context = context;
        this.operation = operation;
        if (operation instanceof SubscribeToTask subscribe) {
            taskId = subscribe.id();
            last = requireNonNullElse(subscribe.after(), 0L);
            begun = subscribe.after() != null; // a caller that resumes has the task already
            resumedBehind = last;
        }
    }

    /**
     * Opens a stream in one attempt.
     *
     * @param endpoint the agent, which is asked for the task that has ended meanwhile
     * @throws A2AException if the agent refuses it
     * @throws ClientException if there is no answer
     * @throws AttemptFailure if another attempt may help, here or elsewhere
     */
    public static TaskEvents open(
            Calls calls,
            AgentEndpoint endpoint,
            AgentAddress place,
            CallContext context,
            Operation.TaskWatch operation,
            Duration left)
            throws AttemptFailure, InterruptedException {
        return new TaskEvents(calls, endpoint, context, operation, watch(calls, place, context, operation, left));
    }

    private static Feed<LoggedEvent> watch(
            Calls calls, AgentAddress place, CallContext context, Operation.TaskWatch operation, Duration left)
            throws AttemptFailure, InterruptedException {
        return switch (place) {
            case AgentAddress.ByHttp http -> {
                HttpWire.Request request = calls.request(http, operation, context, left);
                Binding binding = http.binding().answering(request.id(), EVENT_STREAM);
                yield HttpElements.open(
                        calls,
                        request,
                        left,
                        headers -> null,
                        binding.eventTypes(),
                        (frame, type) -> type == null || !type.equals(EVENT_STREAM)
                                ? http.binding().answering(request.id(), type).event(frame.id(), frame.data())
                                : binding.event(frame.id(), frame.data()),
                        (status, type, body) ->
                                http.binding().answering(request.id(), type).refusal(status, body));
            }
            case AgentAddress.ByTransport other ->
                calls.remotes()
                        .ask(other, context, left, (agent, caller, headers) -> agent.watch(operation, caller, headers));
        };
    }

    @Override
    String name() {
        return "the stream of task " + taskId;
    }

    @Override
    List<LoggedEvent> shown(List<LoggedEvent> news) {
        var shown = new ArrayList<LoggedEvent>(news.size());
        for (LoggedEvent event : news) {
            boolean isLate = held != null && !readsEnd && event.event() instanceof TaskArtifactUpdateEvent;
            if (isDone(false) && !readsEnd && !isLate) {
                break; // before 1.0, the end of a task that was shown whole is repeated
            }
            boolean repeated = reconnected && repeats(event);
            reconnected = false;
            note(event);
            if (repeated) {
                continue;
            }
            if (!begun && !answered) {
                begun = true;
                shown.add(beginning(event));
            }
            if (isEndWithoutArtifact(event)) {
                held = event; // readers leave at the end, so the artifacts are read before it is shown
            } else if (event.sequence() == 0 || event.sequence() > resumedBehind) { // else seen before the cut
                last = event.sequence() == 0 ? last : event.sequence();
                shown.add(event);
            }
        }
        return shown;
    }

    private void note(LoggedEvent event) {
        switch (event.event()) {
            case Task task -> {
                begun = true;
                requireSame(task.id());
                state = task.state();
                snapshot = timeless(task);
                status = task.status();
                hasArtifact |= !task.artifacts().isEmpty();
                last = event.sequence(); // a snapshot: numbers go on from here, even if they are other ones than before
                resumedBehind = 0;
            }
            case Message message -> answered = true;
            case TaskStatusUpdateEvent update -> {
                requireSame(update.taskId());
                state = update.status().state();
                status = update.status();
                snapshot = null; // the next one has this, too
            }
            case TaskArtifactUpdateEvent update -> {
                requireSame(update.taskId());
                hasArtifact = true;
                snapshot = null;
            }
        }
    }

    /** Whether the first event of another connection says nothing new: what the stream has shown before, without a number. */
    private boolean repeats(LoggedEvent event) {
        return switch (event.event()) {
            case Task task -> timeless(task).equals(snapshot);
            case TaskStatusUpdateEvent update ->
                event.sequence() == 0 && update.status().equals(status);
            case TaskArtifactUpdateEvent update -> false;
            case Message message -> false;
        };
    }

    /** Some agents write the time at which they were asked. */
    private static Task timeless(Task task) {
        var status = new TaskStatus(task.state(), task.status().message(), null);
        return new Task(task.id(), task.contextId(), status, task.artifacts(), task.history(), task.metadata());
    }

    /** Whether a task ends that has shown no artifact: some agents end their streams before they tell the result. */
    private boolean isEndWithoutArtifact(LoggedEvent event) {
        return event.event() instanceof TaskStatusUpdateEvent
                && event.sequence() == 0
                && last == 0
                && state == TaskState.COMPLETED
                && !hasArtifact
                && !readsEnd;
    }

    /** The end of the task, after the artifacts that its stream has not brought: the task is read for them once. */
    @Override
    @Nullable
    Opening<LoggedEvent> more() {
        LoggedEvent end = held;
        if (end == null) {
            return null;
        }
        held = null;
        readsEnd = true;
        var events = new ArrayList<LoggedEvent>();
        return () -> {
            if (!hasArtifact) {
                artifacts().forEach(events::add);
            }
            events.add(end);
            return Feed.of(events);
        };
    }

    private List<LoggedEvent> artifacts() {
        String id = requireNonNullElse(taskId, "");
        try {
            Task task = endpoint.call(new Operation.GetTask(operation.tenant(), id, null), context);
            return task.artifacts().stream()
                    .map(artifact -> new LoggedEvent(
                            0, new TaskArtifactUpdateEvent(id, task.contextId(), artifact, false, true, Map.of())))
                    .toList();
        } catch (A2AException | ClientException unread) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "task {0}: its end cannot be read: {1}",
                    id,
                    String.valueOf(unread.getMessage()));
            return List.of();
        }
    }

    /** Refuses events of another task, which a faulty agent or proxy may send: a reader would merge them. */
    private void requireSame(String id) {
        String known = taskId;
        if (known != null && !known.equals(id)) {
            throw A2AException.of(
                    A2AError.INVALID_AGENT_RESPONSE, "The stream of task " + known + " brought an event of task " + id);
        }
        taskId = id;
    }

    /** The task that streams of 0.1 and its like, and of some servers, do not begin with, though every reader needs one. */
    private LoggedEvent beginning(LoggedEvent first) {
        String contextId = switch (first.event()) {
            case TaskStatusUpdateEvent update -> update.contextId();
            case TaskArtifactUpdateEvent update -> update.contextId();
            case Task task -> task.contextId();
            case Message message -> "";
        };
        var submitted = new TaskStatus(TaskState.SUBMITTED, null, null);
        String id = requireNonNullElse(taskId, "");
        return new LoggedEvent(0, new Task(id, contextId, submitted, List.of(), List.of(), Map.of()));
    }

    @Override
    boolean isDone(boolean orderly) {
        return answered || state != null && (state.isTerminal() || orderly && state.isInterrupted());
    }

    @Override
    Opening<LoggedEvent> again(RuntimeException cause) {
        String id = taskId;
        if (id == null) {
            throw cause instanceof A2AException answer
                    ? answer
                    : new ClientException(
                            Problem.LOST,
                            "the stream broke before the agent named a task; whether there is one is unknown",
                            cause);
        }
        resumedBehind = last;
        reconnected = true;
        var subscription = new SubscribeToTask(operation.tenant(), id, last == 0 ? null : last);
        Duration patience = calls.means().settings().callTimeout();
        return () -> watch(calls, calls.place(), context, subscription, patience); // the card may have been read again
    }

    /** Whether the refusal of a subscription may say that the task has ended. */
    public static boolean mayHaveEnded(A2AException refusal) {
        return ENDED.contains(refusal.error());
    }

    @Override
    Feed<LoggedEvent> rest(RuntimeException refusal) {
        Feed<LoggedEvent> outcome = refusal instanceof A2AException answer && mayHaveEnded(answer) ? outcome() : null;
        if (outcome == null) {
            throw refusal;
        }
        return outcome;
    }

    /** The task, if it has ended while the stream was disconnected. */
    @Override
    @Nullable
    Feed<LoggedEvent> outcome() {
        String id = taskId;
        if (id == null) {
            return null;
        }
        try {
            Task task = endpoint.call(new Operation.GetTask(operation.tenant(), id, null), context);
            return task.state().isTerminal() ? new Last(task) : null;
        } catch (A2AException refusal) {
            if (refusal.error() == A2AError.TASK_NOT_FOUND) {
                throw refusal;
            }
            return null; // what led here says more than that the task could not be read
        } catch (ClientException unread) {
            return null;
        }
    }

    /** Snapshot of the ended task, for a caller that missed the rest of the stream. */
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
