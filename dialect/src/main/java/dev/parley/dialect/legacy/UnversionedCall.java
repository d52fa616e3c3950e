package dev.parley.dialect.legacy;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.answers.FailureFraming;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.wire.UntilFinal;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A call of a method that 0.1 and 0.3 share, which names no version. Its answer shows the dialect: only callers of 0.1 name their tasks, so a task with
 * another id than the call has was named by its caller. Until then, and if the call is refused, the dialect is 0.3, as the specification has calls
 * without a version. Belongs to one call; for one thread at a time.
 *
 * <p>Source: A2A specification 1.0, section 3.6.
 */
public final class UnversionedCall {
    private final RpcEnvelope envelope;
    private final FailureFraming framing;
    private LegacyDialect dialect;

    /**
     * @param otherwise the dialect of an answer that is not of 0.1
     * @param framing receives the form of 0.1 with such an answer
     */
    public UnversionedCall(RpcEnvelope envelope, LegacyDialect otherwise, FailureFraming framing) {
        this.envelope = envelope;
        this.dialect = otherwise;
        this.framing = framing;
    }

    /** The dialect that the answer has shown so far. */
    public LegacyDialect dialect() {
        return dialect;
    }

    /** The operation in the dialect that the answer has shown so far. */
    public WireOperation row() {
        return requireNonNull(dialect.operations().named(envelope.method()));
    }

    /** The agent as callers of the dialect expect it to behave. */
    public AgentEndpoint before(AgentEndpoint agent) {
        return new Deciding(DialectErrorsAgent.older(agent));
    }

    /** Returns whether a task has been named by its caller, and decides for 0.1 if it has. */
    private boolean isNamed(@Nullable String taskId, Operation operation) {
        boolean isNamed = taskId != null && !taskId.equals(LegacyEndpoint.nameIn(operation));
        if (isNamed && !dialect.equals(LegacyDialect.TYPE)) {
            dialect = LegacyDialect.TYPE;
            framing.use(ResponseFraming.rpc(dialect, envelope.id()));
        }
        return isNamed;
    }

    private final class Deciding implements AgentEndpoint {
        private final AgentEndpoint agent;

        private Deciding(AgentEndpoint agent) {
            this.agent = agent;
        }

        @Override
        @SuppressWarnings("unchecked") // the form of a task is a task
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            R result = agent.call(operation, context);
            return result instanceof Task task && isNamed(task.id(), operation)
                    ? (R) form(operation).of(named(task, operation, context))
                    : result;
        }

        /** A task as 0.1 reads it: without a length, a read wants all messages in 0.3, and none in 0.1. */
        private Task named(Task task, Operation operation, CallContext context) {
            if (!(operation instanceof GetTask)) {
                return task;
            }
            int length = LegacyEndpoint.historyIn(operation);
            return new LegacyEndpoint(agent, true, null).withEarlier(task.view(length, true), length, context);
        }

        @Override
        @SuppressWarnings("unchecked") // a subscription streams events of tasks
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            var watch = (TaskWatch) operation;
            Feed<LoggedEvent> events = events(watch, context).as(event -> {
                isNamed(taskId(event.event()), watch);
                return event;
            });
            return (Feed<E>) new UntilFinal(events, watch, state -> dialect.isFinal(state), false)
                    .as(event -> dialect.equals(LegacyDialect.TYPE)
                            ? new LoggedEvent(event.sequence(), form(watch).of(event.event()))
                            : event);
        }

        /** The events of a task. If it has ended, 0.1 shows it, and 0.3 refuses. */
        private Feed<LoggedEvent> events(TaskWatch watch, CallContext context) {
            try {
                return agent.watch(watch, context);
            } catch (A2AException refused) {
                if (!(watch instanceof SubscribeToTask subscribe)
                        || refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                    throw refused;
                }
                Task task;
                try {
                    task = agent.call(new GetTask(null, subscribe.id(), 0), context);
                } catch (A2AException unread) {
                    throw refused;
                }
                if (!task.state().isTerminal() || !isNamed(task.id(), watch)) {
                    throw refused;
                }
                return Feed.of(List.of(new LoggedEvent(0, task)));
            }
        }

        private TaskForm form(Operation operation) {
            return new TaskForm(LegacyEndpoint.nameIn(operation), null);
        }
    }

    private static @Nullable String taskId(TaskEvent event) {
        return switch (event) {
            case Task task -> task.id();
            case Message message -> message.taskId();
            case TaskStatusUpdateEvent update -> update.taskId();
            case TaskArtifactUpdateEvent update -> update.taskId();
        };
    }
}
