package dev.parley.agenttools;

import dev.parley.engine.spi.Tools;
import java.util.ArrayList;
import java.util.List;

/**
 * Tools of the MCP servers of a hub as tools of the models that its agents call. A call is made on behalf of the caller of the agent, under
 * the rules for it; see {@link Tools}.
 *
 * <p>A tool that asks its user gets no answer: its question is declined, and the result for the model says so.
 */
public final class McpServers {
    private McpServers() {}

    /**
     * Returns the tools that the caller of the request may know of, by servers.
     *
     * @throws IllegalStateException if this thread does not handle a request of a {@link ConversationHandler}, or the hub has no MCP
     *     servers
     */
    public static List<ModelTool> tools() {
        HostedCall caller = ConversationHandler.current()
                .orElseThrow(
                        () -> new IllegalStateException("tools of MCP servers: no request of an agent on this thread"));
        Tools server = caller.request().tools();
        var tools = new ArrayList<ModelTool>();
        var names = new ToolNames();
        for (Tools.Description tool : server.list()) {
            tools.add(new ServerTool(names.add(tool.name()), caller, server, tool));
        }
        return List.copyOf(tools);
    }
}
