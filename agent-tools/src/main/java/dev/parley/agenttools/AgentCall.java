package dev.parley.agenttools;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.Traces;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskStatus;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Call of a tool that calls an agent. All its requests have one time limit. The task is canceled then, and when the thread is interrupted,
 * as it is by the end of the task on whose behalf the call is made. For one thread, from {@link #begin} to {@link #close}.
 *
 * <p>An interruption must not end the requests that tell the id of a task or cancel one. They have a thread of their own, which brings the
 * task to its end in any case; the interrupted thread waits for it for a short time.
 */
final class AgentCall implements AutoCloseable {
    private final LimitedAgent agent;
    private final @Nullable HostedCall caller;

    private AgentCall(LimitedAgent agent, @Nullable HostedCall caller) {
        this.agent = agent;
        this.caller = caller;
    }

    /**
     * Begins a call on this thread.
     *
     * @param caller null if no agent of this process makes the call
     * @throws CancellationException if the caller's task has ended
     */
    static AgentCall begin(AgentClient agent, Duration timeout, @Nullable HostedCall caller) {
        if (caller != null) {
            caller.enter();
        }
        return new AgentCall(LimitedAgent.of(agent, context(caller), timeout), caller);
    }

    /** The call chain and the trace of the caller; on threads of a model the client does not find them by itself. */
    private static CallContext context(@Nullable HostedCall caller) {
        if (caller == null) {
            return CallContext.anonymous();
        }
        CallContext received = caller.request().context();
        return CallContext.anonymous().through(received.chain()).withTraceparent(received.traceparent());
    }

    @Override
    public void close() {
        if (caller != null) {
            caller.leave();
        }
    }

    /** Whether the task has ended on whose behalf the call is made. */
    boolean isOver() {
        return caller != null && caller.isOver();
    }

    /**
     * Reads a task without its history.
     *
     * @throws ClientException as {@link #send}
     * @throws A2AException the error of the agent
     */
    Task task(String id) {
        return agent.task(id, agent.end());
    }

    /**
     * Sends a message, and waits until its task has ended or needs its caller.
     *
     * @param before status of the task to which the message is an answer, with which a stream may begin; null for a new task
     * @throws ClientException TIMED_OUT at the time limit, INTERRUPTED if the thread was interrupted, and the other problems of a client
     * @throws A2AException the error of the agent
     */
    SendResult send(Message message, @Nullable TaskStatus before) {
        return agent.isStreamed() ? followed(message, before) : answered(message);
    }

    private SendResult followed(Message message, @Nullable TaskStatus before) {
        if (Thread.currentThread().isInterrupted()) {
            throw new ClientException(Problem.INTERRUPTED, "interrupted before a task began");
        }
        var task = new FollowedTask(agent, message, before);
        FutureTask<SendResult> result = started(task);
        try {
            return result.get(); // which comes soon after the time limit
        } catch (InterruptedException interruption) {
            task.stop();
            Thread.currentThread().interrupt();
            awaitEnd(result);
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for a task", interruption);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        }
    }

    private SendResult answered(Message message) {
        try {
            return agent.send(message);
        } catch (ClientException failed) {
            if (failed.problem() != Problem.TIMED_OUT && failed.problem() != Problem.INTERRUPTED) {
                throw failed;
            }
            FutureTask<Boolean> cancellation = started(() -> agent.cancel(message.taskId()));
            awaitEnd(cancellation);
            if (failed.problem() == Problem.INTERRUPTED) {
                throw failed;
            }
            throw agent.late(cancellation.state() == FutureTask.State.SUCCESS && cancellation.resultNow(), failed);
        }
    }

    private static <T> FutureTask<T> started(Callable<T> work) {
        var result = new FutureTask<>(work);
        Thread.ofVirtual().name("parley-agent-call").start(Traces.inCurrentContext(result));
        return result;
    }

    /** Waits for the end of {@code work} for a short time, however often this thread is interrupted. It stays interrupted. */
    private static void awaitEnd(FutureTask<?> work) {
        long end = System.nanoTime() + LimitedAgent.GRACE.toNanos();
        boolean isInterrupted = Thread.interrupted();
        boolean isAwaited = true;
        while (isAwaited) {
            try {
                work.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                isAwaited = false;
            } catch (InterruptedException again) {
                isInterrupted = true;
            } catch (ExecutionException | TimeoutException over) {
                isAwaited = false;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
