package dev.parley.mcp.hub;

import dev.parley.extension.HubAgents;
import dev.parley.extension.HubTasks;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetTask;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Agents of a hub as tools. Calls are those of the caller.
 *
 * @param only the agent at whose address the tools are, which has admitted the caller; null for those of the hub. Agents with other
 *     credentials than the hub are offered at their own addresses only.
 * @param hub address of the hub
 */
record HubOffer(
        HubAgents agents,
        HubTasks tasks,
        HubChanges changes,
        Supplier<String> hub,
        @Nullable String only) implements OfferedAgents {
    private static final String SEND = "SendMessage";

    @Override
    public Map<String, AgentCard> cards(CallContext caller) {
        var cards = new TreeMap<>(agents.cards(caller));
        cards.keySet().removeIf(agent -> !isOffered(agent));
        return cards;
    }

    private boolean isOffered(String agent) {
        return only == null ? !agent.equals(McpHub.AGENT) && !agents.hasOwnAuthentication(agent) : agent.equals(only);
    }

    @Override
    public boolean allows(CallContext caller, String agent, @Nullable Skill skill) {
        return agents.allows(caller, agent, SEND, skill == null ? null : skill.id());
    }

    @Override
    public AgentEndpoint endpoint(String agent) {
        // At its own address the agent has counted the call already.
        return only != null ? within(agent) : isOffered(agent) ? agents.endpoint(agent) : new Unknown(agent);
    }

    @Override
    public AgentEndpoint within(String agent) {
        return isOffered(agent) ? agents.within(agent) : new Unknown(agent);
    }

    /** The hub has the log of its own tasks, also of agents that do not stream to their callers. */
    @Override
    public Feed<LoggedEvent> follow(String agent, String taskId, CallContext caller) {
        return tasks.find(caller.scope().group(), taskId)
                .filter(head -> head.key().agent().equals(agent))
                .map(head -> tasks.follow(head.key()))
                .orElseGet(() -> OfferedAgents.super.follow(agent, taskId, caller));
    }

    @Override
    public Optional<String> agentOf(String taskId, CallContext caller) {
        if (only != null) {
            return Optional.of(only);
        }
        String group = caller.scope().group();
        Predicate<String> isKnown = agent -> isOffered(agent) && agents.knows(caller, agent);
        Optional<String> here =
                tasks.find(group, taskId).map(head -> head.key().agent()).filter(isKnown);
        if (here.isPresent()) {
            return here;
        }
        List<String> remote =
                tasks.remote(group, taskId).stream().filter(isKnown).toList();
        // Ids of agents elsewhere may be equal, and belong to different callers.
        return remote.size() <= 1
                ? remote.stream().findFirst()
                : remote.stream().filter(agent -> has(agent, taskId, caller)).findFirst();
    }

    private boolean has(String agent, String taskId, CallContext caller) {
        try {
            return within(agent).call(new GetTask(null, taskId, 0), caller).id().equals(taskId);
        } catch (A2AException missing) {
            return false;
        }
    }

    @Override
    public Optional<String> authorization(String agent, String taskId) {
        return Optional.of(hub.get() + McpHub.PAGE + "#agent=" + encoded(agent) + "&task=" + encoded(taskId));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    @Override
    public AutoCloseable onChange(CallContext caller, Consumer<String> listener) {
        return changes.add(agent -> {
            if (isOffered(agent) && agents.knows(caller, agent)) {
                listener.accept(agent);
            }
        });
    }

    /** An agent that is not offered. */
    private record Unknown(String agent) implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            throw refusal();
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            throw refusal();
        }

        private A2AException refusal() {
            return A2AException.of(A2AError.METHOD_NOT_FOUND, "agent \"" + agent + "\": unknown");
        }
    }
}
