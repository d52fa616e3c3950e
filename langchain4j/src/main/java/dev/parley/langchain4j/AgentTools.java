package dev.parley.langchain4j;

import static java.util.Objects.requireNonNull;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.parley.client.AgentClient;
import dev.parley.protocol.AgentCard;
import java.time.Duration;
import java.util.List;

/**
 * Remote agents as tools of a service of LangChain4j, one tool for each agent. The tool has the name of the agent, and its
 * description and skills from its card; the answer of the agent is the result. An agent that asks a question answers with the question
 * and a {@code taskId}, by which the model continues the task.
 *
 * <p>Names, descriptions and answers are texts of the agents: a model should trust them no more than it trusts the agents. Credentials
 * and headers are those of the client. Safe for any thread.
 */
public final class AgentTools implements ToolProvider {
    private final List<AgentClient> agents;
    private final Duration timeout;
    private final OpenTasks openTasks;

    private AgentTools(List<AgentClient> agents, Duration timeout, OpenTasks openTasks) {
        this.agents = List.copyOf(agents);
        this.timeout = timeout;
        this.openTasks = openTasks;
    }

    /** Tools that call these agents. The caller closes the clients. */
    public static AgentTools of(AgentClient... agents) {
        return of(List.of(agents));
    }

    /** Tools that call these agents. The caller closes the clients. */
    public static AgentTools of(List<AgentClient> agents) {
        return new AgentTools(agents, Duration.ofMinutes(2), new OpenTasks());
    }

    /** Time after which a call of a tool ends and its task is canceled; default 2 minutes. */
    public AgentTools withTimeout(Duration timeout) {
        if (requireNonNull(timeout, "timeout").isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout: " + timeout + " (expected: > 0)");
        }
        return new AgentTools(agents, timeout, openTasks);
    }

    @Override
    public ToolProviderResult provideTools(ToolProviderRequest request) {
        HostedCall caller = ChatAgent.current().orElse(null);
        ToolProviderResult.Builder tools = ToolProviderResult.builder();
        var names = new ToolNames();
        for (AgentClient agent : agents) {
            tools.add(
                    specification(agent.card(), names),
                    new AgentTool(new AgentCall(agent, caller, timeout), openTasks));
        }
        return tools.build();
    }

    private static ToolSpecification specification(AgentCard card, ToolNames names) {
        return ToolSpecification.builder()
                .name(names.add(card.name()))
                .description(description(card))
                .parameters(JsonObjectSchema.builder()
                        .addStringProperty(AgentTool.MESSAGE, "Text for the agent")
                        .addStringProperty(
                                AgentTool.TASK_ID,
                                "Id of a task of the agent that waits for an answer; absent for a new task")
                        .required(AgentTool.MESSAGE)
                        .build())
                .build();
    }

    private static String description(AgentCard card) {
        var text = new StringBuilder(card.description());
        for (AgentCard.Skill skill : card.skills()) {
            text.append("\n- ").append(skill.name()).append(": ").append(skill.description());
        }
        return ToolNames.description(text.toString());
    }
}
