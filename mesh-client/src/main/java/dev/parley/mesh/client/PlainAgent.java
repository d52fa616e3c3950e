package dev.parley.mesh.client;

import static java.util.Objects.requireNonNullElse;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Acceptance;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.Reports;
import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An agent of A2A that takes no messages of the mesh: delegations to it are tasks of A2A. Safe for any thread. */
final class PlainAgent {
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);
    private static final Backoff READS = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));
    /** Interval in which a silent stream is looked at. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    private static final int MOST_FAILURES = 10;

    private final AgentClient agent;
    private final Deliveries deliveries;

    /** @param deliveries which pause, and end with their client */
    PlainAgent(AgentClient agent, Deliveries deliveries) {
        this.agent = agent;
        this.deliveries = deliveries;
    }

    /** The answer to a delegation, and the end of its time. */
    record Begun(MeshContent answer, @Nullable Instant end) {}

    /** @throws OneException if the agent refuses the message, or its deadline has passed */
    Begun delegate(Envelope envelope, Delegation delegation, RetryPolicy policy) {
        Instant end = delegation.deadline();
        Instant now = Instant.now();
        if (end != null && !end.isAfter(now)) {
            throw OneException.of(MeshError.TIMEOUT, "deadline " + end + ": has passed");
        }
        Duration timeout = envelope.metadata().timeout();
        if (timeout != null && (end == null || end.isAfter(now.plus(timeout)))) {
            end = now.plus(timeout);
        }
        AgentCard card = agent.card();
        AgentCard.Skill skill = Delegations.skill(card, delegation.task()).orElseThrow();
        Message message =
                Delegations.message(envelope, delegation, card, skill, "").in(null, null);
        Task task = sent(message, AT_ONCE, policy);
        MeshContent answer =
                task.state().isTerminal() ? Reports.of(task, 0) : new Acceptance(task.id(), null, List.of(skill.id()));
        return new Begun(answer, end);
    }

    /** The answer to a query, when its task has ended or needs an answer. */
    MeshContent query(Envelope envelope, Query query, RetryPolicy policy) {
        Message message = Delegations.message(envelope, query, agent.card(), "").in(null, null);
        Task task = sent(message, SendConfiguration.DEFAULTS, policy);
        for (int reads = 1; !task.state().isSettled(); reads++) {
            deliveries.pause(READS.bound(reads));
            task = agent.task(task.id());
        }
        return Reports.response(task);
    }

    /** Goes on with a task that waits for its sender. */
    MeshContent respond(String taskId, Part answer) {
        Task task = sent(Message.user(answer).in(null, taskId), AT_ONCE, RetryPolicy.DEFAULT);
        return new Acceptance(task.id(), null, List.of());
    }

    private Task sent(Message message, SendConfiguration configuration, RetryPolicy policy) {
        SendResult result = repeated(() -> agent.send(message, configuration), policy);
        return switch (result) {
            case Task task -> task;
            case Message answer ->
                new Task(
                        requireNonNullElse(answer.taskId(), ""),
                        requireNonNullElse(answer.contextId(), ""),
                        new TaskStatus(TaskState.COMPLETED, answer, null),
                        List.of(),
                        List.of(),
                        Map.of());
        };
    }

    /** Repeats a call that the agent has not begun. */
    private <T> T repeated(Supplier<T> call, RetryPolicy policy) {
        for (int retry = 1; ; retry++) {
            Duration wanted = null;
            try {
                return call.get();
            } catch (A2AException refused) {
                boolean isPassing = refused.error() == A2AError.UNAVAILABLE || refused.error() == A2AError.RATE_LIMITED;
                if (!isPassing || retry > policy.maxRetries()) {
                    throw refusal(refused, isPassing);
                }
                wanted = refused.retryAfter();
            } catch (ClientException unreached) {
                if (unreached.problem() != Problem.UNREACHABLE || retry > policy.maxRetries()) {
                    throw unreached;
                }
            }
            deliveries.pause(policy.pauses().after(retry, wanted));
        }
    }

    private static OneException refusal(A2AException refused, boolean isPassing) {
        MeshError error =
                refused.error() == A2AError.INVALID_PARAMS || refused.error() == A2AError.CONTENT_TYPE_NOT_SUPPORTED
                        ? MeshError.INVALID_MESSAGE
                        : MeshError.TASK_REJECTED;
        return new OneException(
                error.word(),
                requireNonNullElse(refused.getMessage(), refused.error().name()),
                Map.of("error", refused.error().name()),
                isPassing);
    }

    /**
     * Hands on the states of a task until it has ended: by its stream if the agent has streams, else by reads. A task whose time is over is
     * canceled.
     */
    void follow(Following following, @Nullable Instant end) throws InterruptedException {
        String id = following.taskId();
        boolean streams = Boolean.TRUE.equals(agent.card().capabilities().streaming());
        MeshContent last = null;
        int quiet = 1;
        int failures = 0;
        while (!following.isEnded()) {
            try {
                if (streams) {
                    streams = awaitChange(following, end);
                }
                MeshContent now = Reports.of(agent.task(id), last instanceof Status status ? status.progress() : 0);
                failures = 0;
                quiet = now.equals(last) ? quiet + 1 : 1;
                if (!now.equals(last)) {
                    following.take(now);
                    last = now;
                }
            } catch (A2AException | ClientException failed) {
                failures++;
                if (!isPassing(failed) || failures > MOST_FAILURES) {
                    throw failed;
                }
            }
            if (following.isEnded()) {
                return;
            }
            if (isOver(end)) {
                following.take(canceled(id));
                return;
            }
            deliveries.pause(left(end, READS.bound(Math.max(quiet, failures))));
        }
    }

    private MeshContent canceled(String id) {
        try {
            var unused = agent.cancel(id);
        } catch (A2AException | ClientException ignored) {
            // It may have ended meanwhile, or the agent cancels no tasks.
        }
        return new Result(
                id,
                Outcome.FAILED,
                null,
                new MeshContent.Problem(MeshError.TIMEOUT.word(), "the time limit has passed"));
    }

    /** Waits for the next event of a task; returns whether its stream may be of use again. */
    private boolean awaitChange(Following following, @Nullable Instant end) throws InterruptedException {
        try (Feed<LoggedEvent> events =
                agent.watch(Operation.SubscribeToTask.of(following.taskId()), CallContext.anonymous())) {
            Task task = null;
            int progress = 0;
            while (!following.isEnded() && !isOver(end)) {
                List<LoggedEvent> next = events.next(left(end, SILENCE));
                if (next == null) {
                    return true;
                }
                for (LoggedEvent event : next) {
                    task = event.event().applyTo(task);
                }
                if (task != null && task.state().isSettled()) {
                    return true; // the next read returns the whole task
                }
                if (task != null && !next.isEmpty()) {
                    MeshContent now = Reports.of(task, progress);
                    progress = now instanceof Status status ? status.progress() : progress;
                    following.take(now);
                }
            }
            return true;
        } catch (A2AException refused) {
            return false; // it is read instead
        }
    }

    private static boolean isPassing(RuntimeException failed) {
        return switch (failed) {
            case A2AException refused ->
                refused.error() == A2AError.UNAVAILABLE || refused.error() == A2AError.RATE_LIMITED;
            case ClientException broken ->
                broken.problem() == Problem.UNREACHABLE
                        || broken.problem() == Problem.LOST
                        || broken.problem() == Problem.STREAM_CUT
                        || broken.problem() == Problem.TIMED_OUT;
            default -> false;
        };
    }

    private static boolean isOver(@Nullable Instant end) {
        return end != null && !Instant.now().isBefore(end);
    }

    private static Duration left(@Nullable Instant end, Duration longest) {
        if (end == null) {
            return longest;
        }
        Duration left = Duration.between(Instant.now(), end);
        return left.isNegative() ? Duration.ZERO : left.compareTo(longest) < 0 ? left : longest;
    }
}
