package dev.parley.agenttools;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.Traces;
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
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
        if (caller == null) {
            return sent(message, before);
        }
        caller.enter();
        try {
            return sent(message, before);
        } catch (ClientException failed) {
            if (caller.isOver()) {
                throw (CancellationException)
                        new CancellationException("the task on whose behalf the agent is called has ended")
                                .initCause(failed);
            }
            throw failed;
        } finally {
            caller.leave();
        }
    }

    private SendResult sent(Message message, @Nullable TaskStatus before) {
        Instant end = Instant.now().plus(timeout);
        var taskId = new AtomicReference<@Nullable String>(message.taskId());
        try {
            return isStreamed()
                    ? followed(message, before, end, taskId)
                    : agent.call(
                            new Operation.SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()), until(end));
        } catch (ClientException failed) {
            if (failed.problem() != Problem.TIMED_OUT && failed.problem() != Problem.INTERRUPTED) {
                throw failed;
            }
            boolean isCanceled = cancel(taskId.get());
            if (failed.problem() == Problem.INTERRUPTED) {
                throw failed;
            }
            throw new ClientException(
                    Problem.TIMED_OUT,
                    "The agent has not answered within " + timeout.toMillis() / 1_000.0 + " s; "
                            + (isCanceled ? "the task was canceled" : "it may still work at the task"),
                    failed);
        }
    }

    /** Whether the id of the task is known while the agent works. Without streams it is not, and the task cannot be canceled. */
    private boolean isStreamed() {
        return Boolean.TRUE.equals(agent.card().capabilities().streaming());
    }

    private SendResult followed(
            Message message, @Nullable TaskStatus before, Instant end, AtomicReference<@Nullable String> taskId) {
        if (Thread.currentThread().isInterrupted()) {
            throw new ClientException(Problem.INTERRUPTED, "interrupted before a task began");
        }
        var operation = new Operation.SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
        try (Feed<LoggedEvent> events = uninterrupted(() -> agent.watch(operation, until(end)))) {
            while (true) {
                List<LoggedEvent> next = next(events, end, taskId);
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
        }
    }

    /** Returns the next events, at least one; null after the last one. */
    private @Nullable List<LoggedEvent> next(
            Feed<LoggedEvent> events, Instant end, AtomicReference<@Nullable String> taskId) {
        try {
            Duration left = Duration.between(Instant.now(), end);
            List<LoggedEvent> next = left.isPositive() ? events.next(left) : List.of();
            if (next == null || !next.isEmpty()) {
                return next;
            }
            begin(events, taskId);
        } catch (InterruptedException stopped) {
            beginInterrupted(events, taskId);
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for a task", stopped);
        }
        throw new ClientException(Problem.TIMED_OUT, "no answer within " + timeout);
    }

    /** Waits for the first event, if there was none: without the id of the task it cannot be canceled. */
    private static void begin(Feed<LoggedEvent> events, AtomicReference<@Nullable String> taskId)
            throws InterruptedException {
        if (taskId.get() == null) {
            List<LoggedEvent> first = events.next(CANCELLATION);
            if (first != null && !first.isEmpty() && !(first.getFirst().event() instanceof Message)) {
                taskId.set(taskId(first.getFirst()));
            }
        }
    }

    private static void beginInterrupted(Feed<LoggedEvent> events, AtomicReference<@Nullable String> taskId) {
        while (true) {
            try {
                begin(events, taskId);
                return;
            } catch (InterruptedException again) {
                // A thread of a tool may be interrupted more than once.
            }
        }
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

    /** Cancels a task, also on an interrupted thread; false if it may go on. */
    private boolean cancel(@Nullable String taskId) {
        if (taskId == null) {
            return false;
        }
        Instant end = Instant.now().plus(CANCELLATION);
        try {
            return uninterrupted(() -> agent.call(Operation.CancelTask.of(taskId), until(end))
                    .state()
                    .isTerminal());
        } catch (A2AException | ClientException ignored) {
            return false; // it may have ended meanwhile, or the agent cancels no tasks
        }
    }

    /**
     * Makes a request on a thread of its own: the interruption of this thread, which may come again while it is handled, must not end a
     * request whose answer has the id of a task, or that cancels one. The thread is interrupted afterwards.
     *
     * @throws ClientException INTERRUPTED if the answer is not there soon after an interruption
     */
    private static <T> T uninterrupted(Callable<T> request) {
        var answer = new FutureTask<>(request);
        Thread.ofVirtual().name("parley-agent-call").start(Traces.inCurrentContext(answer));
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return isInterrupted
                            ? answer.get(CANCELLATION.toSeconds(), TimeUnit.SECONDS)
                            : answer.get(); // the request has a deadline
                } catch (InterruptedException interruption) {
                    isInterrupted = true;
                }
            }
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        } catch (TimeoutException late) {
            answer.cancel(true);
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an answer", late);
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
