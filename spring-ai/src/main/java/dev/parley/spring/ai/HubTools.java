package dev.parley.spring.ai;

import dev.parley.agenttools.McpServers;
import dev.parley.engine.spi.Tools;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;

/**
 * Tools of the MCP servers of a hub, for the chat client of a {@link ChatAgent} on that hub. A call is made on behalf of the caller of the
 * agent, under the rules for it; see {@link Tools}.
 *
 * <p>A tool that asks its user gets no answer: its question is declined, and the result for the model says so.
 */
public final class HubTools implements ToolCallbackProvider {
    private HubTools() {}

    public static HubTools create() {
        return new HubTools();
    }

    /**
     * Returns the tools that the caller of the agent may know of.
     *
     * @throws IllegalStateException if this thread does not handle a request of a {@link ChatAgent}, or the hub has no MCP servers
     */
    @Override
    public ToolCallback[] getToolCallbacks() {
        return ProvidedTool.of(McpServers.tools());
    }
}
