package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.mesh.Reports;
import dev.parley.mesh.workflow.StepAgents.StepAgent;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Ids;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An attempt of a step: sends a message to its agent, or continues its task, until the task ends or needs input. Runs on
 * a thread of its own; {@link #stop} may be called by any.
 */
final class StepCall implements Runnable {
    private static final Logger LOG = System.getLogger("dev.parley.mesh");
    /** Attempts to read a task, or to send a message again whose answer got lost, while the hub is away: about a minute. */
    static final int MOST_TRIES = 12;

    private static final Duration LONGEST = Duration.ofHours(1);

    /** Connections over a network may be cut while an agent works, so its task is read later. */
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);

    /** Pauses after refusals for lack of capacity, and before a task of an agent that does not stream is read again. */
    static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(10));

    /**
     * Result of an attempt.
     *
     * @param parts of the task's result; empty unless it has completed
     */
    record Progress(Happening happening, List<Part> parts) {}

    /** The agent of a step, and how the run calls it. */
    record Target(StepAgent agent, CallContext context) {}

    private final Step step;
    private final int attempt;
    private final @Nullable Function<AgentCard, Message> message;
    private final StepAgent agent;
    private final CallContext context;
    private final InstantSource clock;
    private final Consumer<Progress> progress;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private @Nullable Instant deadline;
    private boolean announced;
    /** Whether the message has no reference to the run, which an agent elsewhere does not know. */
    private boolean isBare;

    private volatile @Nullable String taskId;
    private volatile boolean canceled;
    private volatile @Nullable Thread thread;

    /**
     * @param message by the agent's card, that begins the task or goes on with it; null to wait for the end of a task
     * @param taskId null if the message begins one
     */
    StepCall(
            Step step,
            int attempt,
            @Nullable Function<AgentCard, Message> message,
            @Nullable String taskId,
            Target target,
            InstantSource clock,
            Consumer<Progress> progress) {
        this.step = step;
        this.attempt = attempt;
        this.message = message;
        this.taskId = taskId;
        this.agent = target.agent();
        this.context = target.context();
        this.clock = clock;
        this.progress = progress;
        this.announced = message == null;
        this.isBare = target.agent().isForeign();
    }

    /** Ends the wait, without a result. */
    void stop() {
        stopped.countDown();
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
    }

    /** Ends the wait and cancels the task: now, or as soon as its agent has begun it. */
    void cancel() {
        canceled = true;
        stopped.countDown();
        if (taskId != null) {
            stop();
            cancel(agent, taskId, context);
        }
    }

    /** Cancels a task, unless it has ended; one of another hub without waiting for it. */
    private static void cancel(StepAgent agent, @Nullable String taskId, CallContext context) {
        if (taskId != null) {
            if (agent.isForeign()) {
                Thread.ofVirtual().name("step-cancel").start(() -> RunTimers.isCanceled(agent, taskId, context));
            } else {
                var unused = RunTimers.isCanceled(agent, taskId, context);
            }
        }
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        Progress outcome;
        try {
            String known = taskId;
            if (step.timeout() != null) {
                Instant begun = known == null ? null : Ids.madeAt(known);
                deadline = (begun == null ? clock.instant() : begun).plus(step.timeout());
            }
            Instant end = step.vote() == null ? null : step.vote().deadline();
            if (end != null && (deadline == null || end.isBefore(deadline))) {
                deadline = end;
            }
            Task before = known == null ? null : read(known);
            // A task that waits no more was answered at its own address.
            boolean isSent = known == null
                    || message != null && before != null && before.state().isInterrupted();
            outcome = ended(isSent ? sent() : before);
        } catch (InterruptedException stop) {
            return; // the run ends, or is canceled
        } catch (A2AException refused) {
            outcome = failed(refused.getMessage() == null ? refused.error().name() : refused.getMessage());
        } catch (InvalidField refused) {
            outcome = failed(requireNonNullElse(refused.getMessage(), refused.field()));
        } catch (ClientException unanswered) {
            if (unanswered.problem() == Problem.INTERRUPTED || unanswered.problem() == Problem.CLOSED) {
                return; // as above
            }
            outcome = isOver() ? late() : failed(requireNonNullElse(unanswered.getMessage(), "no answer"));
        } catch (RuntimeException failure) {
            LOG.log(Level.WARNING, "step \"" + step.id() + "\" failed", failure);
            outcome = failed("The agent could not be called");
        }
        if (stopped.getCount() > 0) {
            progress.accept(outcome);
        }
    }

    private Progress late() {
        cancel(agent, taskId, context);
        return failed(
                step.timeout() == null
                        ? "The step ended at its deadline"
                        : "The step took longer than " + step.timeout());
    }

    private Progress failed(String problem) {
        return failed(taskId, problem);
    }

    private Progress failed(@Nullable String task, String problem) {
        return new Progress(new Happening(step.id(), StepState.FAILED, attempt, task, null, problem), List.of());
    }

    private Progress ended(@Nullable Task task) throws InterruptedException {
        Task now = task;
        for (int reads = 1; now != null && !now.state().isSettled(); reads++) {
            now = agent.streams() ? followed(now.id(), reads) : reread(now.id(), reads);
        }
        if (now == null) {
            return late();
        }
        String reason =
                now.status().message() == null ? "" : now.status().message().text();
        if (step.isBallot() && now.state().isInterrupted()) {
            cancel(agent, now.id(), context);
            return failed(now.id(), "The voter asked instead: " + reason);
        }
        List<Part> parts = Reports.parts(now);
        return switch (now.state()) {
            case COMPLETED ->
                new Progress(
                        new Happening(
                                step.id(),
                                StepState.COMPLETED,
                                attempt,
                                now.id().isEmpty() ? null : now.id(),
                                StepMessage.value(parts),
                                null),
                        parts);
            case CANCELED ->
                new Progress(
                        new Happening(step.id(), StepState.CANCELED, attempt, now.id(), null, "canceled"), List.of());
            case INPUT_REQUIRED, AUTH_REQUIRED ->
                new Progress(
                        new Happening(step.id(), StepState.INPUT_REQUIRED, attempt, now.id(), null, reason), List.of());
            case FAILED, REJECTED, UNSPECIFIED, SUBMITTED, WORKING ->
                failed(now.id(), reason.isEmpty() ? "The task ended in state " + now.state() : reason);
        };
    }

    /** Sends the message; again under the same id while the agent has no room, or if the answer got lost. Null after the deadline. */
    private @Nullable Task sent() throws InterruptedException {
        boolean isLost = false;
        for (int refusals = 1; ; refusals++) {
            try {
                return send();
            } catch (ClientException broken) {
                String begun = taskId;
                if (announced && begun != null && isPassing(broken)) {
                    return read(begun);
                }
                isLost |= isBroken(broken);
                if (!isLost || !isPassing(broken) || refusals >= MOST_TRIES) {
                    throw broken;
                }
                if (isPast(PAUSES.bound(refusals))) {
                    return null;
                }
            } catch (RuntimeException refused) {
                ErrorKind error = A2AError.of(refused);
                if (error == A2AError.TASK_NOT_FOUND && taskId == null && !isBare) {
                    isBare = true; // an agent behind a route
                    continue;
                }
                if (error != A2AError.UNAVAILABLE) {
                    throw refused;
                }
                isLost = true; // its hub may be stopping
                Duration after = refused instanceof A2AException known ? known.retryAfter() : null;
                if (isPast(PAUSES.after(refusals, after))) {
                    return null;
                }
            }
        }
    }

    /** Whether a call may succeed later: the hub of the agent cannot be reached, or cannot use its database for a while. */
    static boolean isPassing(RuntimeException problem) {
        return problem instanceof ClientException unanswered
                ? unanswered.problem() == Problem.UNREACHABLE || isBroken(unanswered)
                : A2AError.of(problem) == A2AError.UNAVAILABLE;
    }

    private static boolean isBroken(ClientException problem) {
        return problem.problem() == Problem.LOST || problem.problem() == Problem.STREAM_CUT;
    }

    private @Nullable Task send() throws InterruptedException {
        Message made = requireNonNull(message).apply(agent.card());
        Message first = isBare ? bare(made) : made;
        if (agent.streams()) {
            try (Feed<LoggedEvent> events = agent.endpoint().watch(SendStreamingMessage.of(first), limited())) {
                return folded(events);
            }
        }
        SendConfiguration how = agent.isForeign() ? AT_ONCE : SendConfiguration.DEFAULTS;
        return switch (agent.endpoint().call(new SendMessage(null, first, how, Map.of()), limited())) {
            case Task task -> task;
            case Message answer -> answered(answer);
        };
    }

    private static Message bare(Message made) {
        return new Message(
                made.messageId(),
                made.role(),
                made.parts(),
                made.contextId(),
                made.taskId(),
                made.metadata(),
                made.extensions(),
                List.of());
    }

    private @Nullable Task followed(String id, int reads) throws InterruptedException {
        try (Feed<LoggedEvent> events = agent.endpoint().watch(SubscribeToTask.of(id), limited())) {
            return folded(events);
        } catch (RuntimeException broken) {
            if (isPassing(broken)) {
                return reread(id, reads);
            }
            if (!(broken instanceof A2AException)) {
                throw broken;
            }
            Task task = read(id);
            if (!task.state().isSettled()) {
                throw broken;
            }
            return task;
        }
    }

    private @Nullable Task reread(String id, int reads) throws InterruptedException {
        begun(id);
        return isPast(PAUSES.bound(reads)) ? null : read(id);
    }

    /** Reads the task; again while its hub cannot be reached, as in a restart, or cannot read its database. */
    private Task read(String id) throws InterruptedException {
        for (int failures = 1; ; failures++) {
            try {
                return agent.endpoint().call(GetTask.of(id), limited());
            } catch (RuntimeException unreached) {
                if (!isPassing(unreached) || failures >= MOST_TRIES || isPast(PAUSES.bound(failures))) {
                    throw unreached;
                }
            }
        }
    }

    /** The context with the end of the step, after which calls over the network are given up. */
    private CallContext limited() {
        return agent.isForeign() ? context.withDeadline(deadline) : context;
    }

    /** The task after the events of a stream, up to its end or a question; null after the deadline. */
    private @Nullable Task folded(Feed<LoggedEvent> events) throws InterruptedException {
        Task task = null;
        while (true) {
            List<LoggedEvent> next = events.next(left());
            if (next == null) {
                return task == null ? readOrFail() : task.state().isSettled() ? task : read(task.id());
            }
            if (next.isEmpty() && isOver()) {
                return null;
            }
            for (LoggedEvent event : next) {
                task = folded(task, event.event());
                if (task.state().isSettled()) {
                    return task;
                }
            }
            if (task != null) {
                begun(task.id());
            }
        }
    }

    private Task readOrFail() throws InterruptedException {
        String id = taskId;
        if (id == null) {
            throw A2AException.of(A2AError.INVALID_AGENT_RESPONSE, "The agent's stream ended without a task");
        }
        return read(id);
    }

    private Task folded(@Nullable Task task, TaskEvent event) throws InterruptedException {
        return switch (event) {
            case Task snapshot -> snapshot;
            case Message answer when task == null -> answered(answer);
            default -> task == null ? readOrFail() : event.applyTo(task);
        };
    }

    /** An answer without a task, as one. */
    private static Task answered(Message answer) {
        return new Task("", "", new TaskStatus(TaskState.COMPLETED, answer, null), List.of(), List.of(), Map.of());
    }

    private void begun(String id) throws InterruptedException {
        if (!announced) {
            announced = true;
            taskId = id;
            if (canceled) {
                cancel(agent, id, context);
                throw new InterruptedException();
            }
            progress.accept(new Progress(Happening.begun(step.id(), attempt, id), List.of()));
        }
    }

    private Duration left() {
        Instant end = deadline;
        if (end == null) {
            return LONGEST;
        }
        Duration left = Duration.between(clock.instant(), end);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private boolean isOver() {
        Instant end = deadline;
        return end != null && !clock.instant().isBefore(end);
    }

    /** Waits; true if the deadline has passed. */
    private boolean isPast(Duration pause) throws InterruptedException {
        Duration left = left();
        if (stopped.await(Math.min(pause.toMillis(), left.toMillis()), TimeUnit.MILLISECONDS)) {
            throw new InterruptedException();
        }
        return isOver();
    }
}
