package dev.parley.agenttools;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Remote agents as tools of models, one tool for each agent. The tool has the name of the agent, and its description and skills from its
 * card; the answer of the agent is the result. An agent that asks a question answers with the question and a {@code taskId}, by which
 * the model continues the task. Credentials and headers are those of the client. Safe for any thread.
 */
public final class RemoteAgents {
    private final List<Remote> agents;
    private final Duration timeout;

    /** @param openTasks of this agent only: agents choose the ids of their tasks */
    private record Remote(AgentClient client, OpenTasks openTasks) {}

    private RemoteAgents(List<Remote> agents, Duration timeout) {
        this.agents = agents;
        this.timeout = timeout;
    }

    /** These agents, with a timeout of 2 minutes. The caller closes the clients. */
    public static RemoteAgents of(List<AgentClient> agents) {
        return new RemoteAgents(
                agents.stream()
                        .map(client -> new Remote(client, new OpenTasks()))
                        .toList(),
                Duration.ofMinutes(2));
    }

    /**
     * The same agents, with another time after which a call ends and its task is canceled.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public RemoteAgents withTimeout(Duration timeout) {
        if (requireNonNull(timeout, "timeout").isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: > 0)");
        }
        return new RemoteAgents(agents, timeout);
    }

    /**
     * Returns a tool for each agent, in their order. If this thread handles a request of a {@link ConversationHandler}, calls are made
     * on its behalf: they end with its task, and pass on its call chain and trace. Tools of another thread make each call on behalf of the
     * request that the thread of the call handles, if there is one.
     */
    public List<ModelTool> tools() {
        HostedCall caller = ConversationHandler.current().orElse(null);
        var tools = new ArrayList<ModelTool>();
        var names = new ToolNames();
        for (Remote agent : agents) {
            String name = names.add(agent.client.card().name());
            tools.add(new AgentTool(name, agent.client, agent.openTasks, timeout, caller));
        }
        return List.copyOf(tools);
    }
}
