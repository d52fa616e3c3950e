package dev.parley.spring.ai;

import dev.parley.agenttools.RemoteAgents;
import dev.parley.client.AgentClient;
import java.time.Duration;
import java.util.List;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;

/**
 * Remote agents as tools of a chat client, one tool for each agent. The tool has the name of the agent, and its description and skills
 * from its card; the answer of the agent is the result. An agent that asks a question answers with the question and a {@code taskId}, by
 * which the model continues the task.
 *
 * <p>Names, descriptions and answers are texts of the agents: a model should trust them no more than it trusts the agents. Credentials
 * and headers are those of the client. Safe for any thread.
 */
public final class AgentTools implements ToolCallbackProvider {
    private final RemoteAgents agents;

    private AgentTools(RemoteAgents agents) {
        this.agents = agents;
    }

    /** Tools that call these agents. The caller closes the clients. */
    public static AgentTools of(AgentClient... agents) {
        return of(List.of(agents));
    }

    /** Tools that call these agents. The caller closes the clients. */
    public static AgentTools of(List<AgentClient> agents) {
        return new AgentTools(RemoteAgents.of(agents));
    }

    /** Time after which a call of a tool ends and its task is canceled; default 2 minutes. */
    public AgentTools withTimeout(Duration timeout) {
        return new AgentTools(agents.withTimeout(timeout));
    }

    /**
     * Returns a tool for each agent. If this thread handles a request of a {@link ChatAgent}, the tools are for that request: their calls
     * end with its task, and its conversation is theirs. Other tools are for the request that the thread of a call handles; the threads of
     * streams handle none.
     */
    @Override
    public ToolCallback[] getToolCallbacks() {
        return ProvidedTool.of(agents.tools());
    }
}
