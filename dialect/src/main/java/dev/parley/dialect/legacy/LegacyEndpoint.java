package dev.parley.dialect.legacy;

import dev.parley.dialect.wire.UntilFinal;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CreatePushConfig;
import dev.parley.protocol.Operation.GetExtendedAgentCard;
import dev.parley.protocol.Operation.GetPushConfig;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListPushConfigs;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An agent that behaves as clients of older versions expect: a task's only webhook need not be named, streams end when
 * the task waits for its caller, and (in 0.1) a task has the history of those that had its name before it.
 */
final class LegacyEndpoint implements AgentEndpoint {
    private final AgentEndpoint agent;
    private final boolean first;
    private final @Nullable Predicate<TaskState> isFinal;

    /**
     * @param first whether for 0.1 and its like
     * @param isFinal the states that end a stream; null for the end of the task only
     */
    LegacyEndpoint(AgentEndpoint agent, boolean first, @Nullable Predicate<TaskState> isFinal) {
        this.agent = agent;
        this.first = first;
        this.isFinal = isFinal;
    }

    @Override
    @SuppressWarnings("unchecked") // what is shown is of the type that the operation declares
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        Object result = switch (operation) {
            case GetPushConfig get -> find(get, context);
            case GetExtendedAgentCard get when !first -> extendedCard(get, context);
            default -> agent.call(operation, context);
        };
        String name = nameIn(operation);
        return (R)
                switch (result) {
                    case Task task when first -> withEarlier(task, historyIn(operation), context);
                    case PushConfig config
                    when first && name != null ->
                        new PushConfig(null, config.id(), name, config.url(), config.token(), config.authentication());
                    default -> result;
                };
    }

    /** An agent without an extended card has an error of its own in 0.3, where 1.0 has it say that it cannot do this. */
    private AgentCard extendedCard(GetExtendedAgentCard get, CallContext context) {
        try {
            return agent.call(get, context);
        } catch (A2AException refused) {
            throw refused.error() == A2AError.UNSUPPORTED_OPERATION
                    ? A2AException.of(A2AError.EXTENDED_AGENT_CARD_NOT_CONFIGURED)
                    : refused;
        }
    }

    /** Number of messages of history that the caller wants; 0 for none. */
    static int historyIn(Operation operation) {
        Integer length = switch (operation) {
            case Send send -> send.configuration().historyLength();
            case GetTask get -> get.historyLength();
            default -> null;
        };
        return length == null ? 0 : length;
    }

    /**
     * Returns the task with the history of those that had its name before it: in 0.1 a message to a task that has ended goes
     * on with it, where 1.0 begins another one that refers to it.
     */
    Task withEarlier(Task task, int length, CallContext context) {
        var history = new ArrayList<Message>(task.history());
        Set<String> seen = new HashSet<>(Set.of(task.id()));
        while (!history.isEmpty() && history.size() < length) {
            List<String> references = history.getFirst().referenceTaskIds();
            if (references.size() != 1 || !seen.add(references.getFirst())) {
                break;
            }
            Task earlier = earlier(references.getFirst(), length - history.size(), context);
            if (earlier == null
                    || !earlier.state().isTerminal()
                    || !earlier.contextId().equals(task.contextId())) {
                break;
            }
            Message said = earlier.status().message();
            if (said != null) {
                history.addFirst(said);
            }
            history.addAll(0, earlier.history());
        }
        List<Message> last = history.subList(
                Math.max(0, history.size() - Math.max(length, task.history().size())), history.size());
        return new Task(task.id(), task.contextId(), task.status(), task.artifacts(), last, task.metadata());
    }

    private @Nullable Task earlier(String id, int length, CallContext context) {
        try {
            // Not by name: the task that is read has the name now.
            return agent.call(new GetTask(null, id, length), context.withLiteralIds());
        } catch (A2AException gone) {
            return null; // retention may have removed it
        }
    }

    private PushConfig find(GetPushConfig get, CallContext context) {
        try {
            return agent.call(get, context);
        } catch (A2AException missing) {
            boolean unnamed = get.id().equals(get.taskId()) || get.id().equals("default");
            if (missing.error() != A2AError.TASK_NOT_FOUND || !unnamed) {
                throw missing;
            }
            List<PushConfig> all = agent.call(new ListPushConfigs(null, get.taskId(), 0, null), context)
                    .configs();
            if (all.isEmpty()) {
                throw missing;
            }
            // Reads by id: permission to list webhooks does not include permission to get one.
            return agent.call(
                    new GetPushConfig(
                            null, get.taskId(), String.valueOf(all.getFirst().id())),
                    context);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return operation instanceof TaskWatch watch && isFinal != null
                ? (Feed<E>) new UntilFinal(agent.watch(watch, context), watch, isFinal, false)
                : agent.watch(operation, context);
    }

    /** The caller's name of the task; null if the server chooses it. */
    static @Nullable String nameIn(Operation operation) {
        return switch (operation) {
            case Send send -> send.message().taskId();
            case GetTask get -> get.id();
            case Operation.CancelTask cancel -> cancel.id();
            case SubscribeToTask subscribe -> subscribe.id();
            case CreatePushConfig create -> create.config().taskId();
            case GetPushConfig get -> get.taskId();
            default -> null;
        };
    }
}
