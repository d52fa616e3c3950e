package dev.parley.langchain4j;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Call of an agent that ends within a time limit: its task is canceled then, and when the thread is interrupted or the task ends on whose
 * behalf the call is made.
 */
final class AgentCall {
    private static final Duration CANCELLATION = Duration.ofSeconds(5);

    private final AgentClient agent;
    private final @Nullable HostedCall caller;
    private final CallContext context;
    private final Duration timeout;

    /** @param caller null if no agent of this process makes the call */
    AgentCall(AgentClient agent, @Nullable HostedCall caller, Duration timeout) {
        this.agent = agent;
        this.caller = caller;
        this.context = context(caller);
        this.timeout = timeout;
    }

    /** The call chain and the trace of the caller; on threads of a model the client does not find them by itself. */
    private static CallContext context(@Nullable HostedCall caller) {
        if (caller == null) {
            return CallContext.anonymous();
        }
        CallContext received = caller.request().context();
        return CallContext.anonymous().through(received.chain()).withTraceparent(received.traceparent());
    }

    Duration timeout() {
        return timeout;
    }

    /** Reads a task without its history. */
    Task task(String id) {
        return agent.call(
                new Operation.GetTask(null, id, 0), until(Instant.now().plus(timeout)));
    }

    /**
     * Sends a message, and waits until its task has ended or needs its caller.
     *
     * @param before status of the task to which the message is an answer, with which a stream may begin; null for a new task
     * @throws ClientException TIMED_OUT at the time limit, INTERRUPTED if the thread was interrupted, and the other problems of a client
     * @throws CancellationException if the caller's task has ended
     * @throws A2AException the error of the agent
     */
    SendResult send(Message message, @Nullable TaskStatus before) {
        requireCaller();
        Instant end = Instant.now().plus(timeout);
        if (!isStreamed()) {
            return agent.call(
                    new Operation.SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()), until(end));
        }
        var taskId = new AtomicReference<@Nullable String>(message.taskId());
        try {
            return followed(message, before, end, taskId);
        } catch (ClientException failed) {
            if (failed.problem() == Problem.TIMED_OUT || failed.problem() == Problem.INTERRUPTED) {
                cancel(taskId.get());
            }
            throw failed;
        } catch (CancellationException ended) {
            cancel(taskId.get());
            throw ended;
        }
    }

    /** Whether the id of the task is known while the agent works. Without streams it is not, and the task cannot be canceled. */
    boolean isStreamed() {
        return Boolean.TRUE.equals(agent.card().capabilities().streaming());
    }

    private void requireCaller() {
        if (caller != null && caller.isOver()) {
            throw new CancellationException("the task on whose behalf the agent is called has ended");
        }
    }

    private SendResult followed(
            Message message, @Nullable TaskStatus before, Instant end, AtomicReference<@Nullable String> taskId) {
        var operation = new Operation.SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
        Feed<LoggedEvent> events = agent.watch(operation, until(end));
        try (events) {
            if (caller != null) {
                caller.add(events);
            }
            while (true) {
                List<LoggedEvent> next = next(events, end);
                if (next == null) {
                    return ended(taskId.get());
                }
                for (LoggedEvent event : next) {
                    if (event.event() instanceof Message answer) {
                        return answer;
                    }
                    taskId.set(taskId(event));
                    if (isSettled(event, before)) {
                        return task(taskId(event));
                    }
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for a task", stopped);
        } finally {
            if (caller != null) {
                caller.remove(events);
            }
        }
    }

    /** Returns the next events, at least one; null after the last one. */
    private @Nullable List<LoggedEvent> next(Feed<LoggedEvent> events, Instant end) throws InterruptedException {
        Duration left = Duration.between(Instant.now(), end);
        List<LoggedEvent> next = left.isPositive() ? events.next(left) : List.of();
        requireCaller();
        if (next != null && next.isEmpty()) {
            throw new ClientException(Problem.TIMED_OUT, "no answer within " + timeout);
        }
        return next;
    }

    /** Returns a task whose stream has ended before the task. */
    private Task ended(@Nullable String taskId) {
        if (taskId == null) {
            throw new ClientException(Problem.STREAM_CUT, "the stream ended without an event");
        }
        return task(taskId);
    }

    private static String taskId(LoggedEvent event) {
        return switch (event.event()) {
            case Task task -> task.id();
            case TaskStatusUpdateEvent update -> update.taskId();
            case TaskArtifactUpdateEvent update -> update.taskId();
            case Message message -> throw new IllegalStateException("message: " + message.messageId());
        };
    }

    private static boolean isSettled(LoggedEvent event, @Nullable TaskStatus before) {
        return switch (event.event()) {
            case Task task -> task.state().isSettled() && !task.status().equals(before);
            case TaskStatusUpdateEvent update -> update.status().state().isSettled();
            case TaskArtifactUpdateEvent update -> false;
            case Message message -> true;
        };
    }

    /** Cancels a task, also on an interrupted thread, which is interrupted again afterwards. */
    private void cancel(@Nullable String taskId) {
        boolean isInterrupted = Thread.interrupted();
        try {
            if (taskId != null) {
                var unused = agent.call(
                        Operation.CancelTask.of(taskId), until(Instant.now().plus(CANCELLATION)));
            }
        } catch (A2AException | ClientException ignored) {
            // It may have ended meanwhile, or the agent cancels no tasks.
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private CallContext until(Instant end) {
        return context.withDeadline(end);
    }
}
