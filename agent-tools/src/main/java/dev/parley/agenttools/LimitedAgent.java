package dev.parley.agenttools;

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
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Agent for one call of a tool: its requests have the same time limit. All throw {@link A2AException} for errors of the agent, and
 * {@link ClientException} if there is no answer. Safe for any thread.
 */
record LimitedAgent(AgentClient client, CallContext context, Duration timeout, Instant end) {
    /** Time in which a call ends after its time limit or an interruption. */
    static final Duration GRACE = Duration.ofSeconds(5);

    /** An agent whose time limit begins now. */
    static LimitedAgent of(AgentClient client, CallContext context, Duration timeout) {
        return new LimitedAgent(client, context, timeout, Instant.now().plus(timeout));
    }

    /** Time until which the end of a task is awaited. */
    Instant last() {
        return end.plus(GRACE);
    }

    /** Whether the id of a new task is known while the agent works. Without streams it is not, and the task cannot be canceled. */
    boolean isStreamed() {
        return Boolean.TRUE.equals(client.card().capabilities().streaming());
    }

    SendResult send(Message message) {
        return client.call(
                new Operation.SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()),
                context.withDeadline(end));
    }

    Feed<LoggedEvent> stream(Message message) {
        return client.watch(
                new Operation.SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, Map.of()),
                context.withDeadline(end));
    }

    /** Reads a task without its history. */
    Task task(String id, Instant deadline) {
        return client.call(new Operation.GetTask(null, id, 0), context.withDeadline(deadline));
    }

    /** Cancels a task; false if it may go on. */
    boolean cancel(@Nullable String taskId) {
        if (taskId == null) {
            return false;
        }
        try {
            return client.call(Operation.CancelTask.of(taskId), context.withDeadline(last()))
                    .state()
                    .isTerminal();
        } catch (A2AException | ClientException ignored) {
            return false; // it may have ended meanwhile, or the agent cancels no tasks
        }
    }

    ClientException late(boolean isCanceled, @Nullable ClientException cause) {
        return new ClientException(
                Problem.TIMED_OUT,
                "The agent has not answered within " + timeout.toMillis() / 1_000.0 + " s; "
                        + (isCanceled ? "the task was canceled" : "it may still work at the task"),
                cause);
    }
}
