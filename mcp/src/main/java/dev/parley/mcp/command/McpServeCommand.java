package dev.parley.mcp.command;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.mcp.ServerInfo;
import dev.parley.mcp.hub.AgentProvider;
import dev.parley.mcp.stdio.McpServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley mcp serve}: an MCP server over standard input and output, whose tools are the skills of remote agents. */
final class McpServeCommand implements ProgramCommand {
    private static final int WAIT_SECONDS = 25;

    @Override
    public void describe(CommandSpec spec) {
        spec.addOption(Parameters.option(
                "--wait",
                "SECONDS",
                "How long a call waits for its task, before it returns with the id of the task. Default: 25."));
        spec.usageMessage()
                .footer(
                        "",
                        "-a names an agent, or a hub: then the tools are those of all agents that it lists. Programs such as",
                        "editors start this command; credentials come from its flags, the environment or stored keys.");
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Integer wait = call.number("--wait", 1, 3600);
        List<String> urls = HubListing.of(call, String.valueOf(call.setting("--agent-card")));
        Duration budget = Duration.ofSeconds(wait == null ? WAIT_SECONDS : wait);
        try (ConnectedAgents agents = ConnectedAgents.open(call, urls)) {
            McpServer.of(new AgentProvider(agents, budget), ServerInfo.of("parley", "1"))
                    .serve(call.in(), call.out());
        } catch (IOException broken) {
            throw CommandException.usage("the client of MCP does not answer: " + broken.getMessage(), null);
        }
        return 0;
    }
}
