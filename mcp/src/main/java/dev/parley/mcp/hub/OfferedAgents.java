package dev.parley.mcp.hub;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.SubscribeToTask;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Agents whose skills are offered as tools: those of a hub, or remote ones. Safe for any thread. */
public interface OfferedAgents {
    /** Cards of the agents that a caller may call, by their names. */
    Map<String, AgentCard> cards(CallContext caller);

    /**
     * Whether a caller may send messages for a skill.
     *
     * @param skill null for messages without a skill
     */
    default boolean allows(CallContext caller, String agent, AgentCard.@Nullable Skill skill) {
        return true;
    }

    /** The agent for a call of a client. It need not be one of the {@link #cards}: its calls are refused then. */
    AgentEndpoint endpoint(String agent);

    /** The agent for further operations of a call that is counted already. */
    default AgentEndpoint within(String agent) {
        return endpoint(agent);
    }

    /**
     * Follows a task that the caller may read, from its present state on.
     *
     * @throws dev.parley.protocol.A2AException UNSUPPORTED_OPERATION, if the task has ended
     */
    default Feed<LoggedEvent> follow(String agent, String taskId, CallContext caller) {
        AgentCard card = cards(caller).get(agent);
        return card != null && Boolean.TRUE.equals(card.capabilities().streaming())
                ? within(agent).watch(SubscribeToTask.of(taskId), caller)
                : new PolledTask(within(agent), taskId, caller);
    }

    /** The agent that has a task, which may be the task of another caller; empty if none has it. */
    Optional<String> agentOf(String taskId, CallContext caller);

    /** Address of a page at which the caller hands a credential over to a task; empty without such a page. */
    default Optional<String> authorization(String agent, String taskId) {
        return Optional.empty();
    }

    /** Adds a listener for names of agents whose cards are new, changed or gone, until the result is closed. */
    default AutoCloseable onChange(CallContext caller, Consumer<String> listener) {
        return () -> {};
    }
}
