package dev.parley.agenttools;

import dev.parley.engine.spi.Tools;
import dev.parley.protocol.A2AException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** Tool of an MCP server, for one request of an agent. */
record ServerTool(String name, HostedCall caller, Tools tools, Tools.Description tool) implements ModelTool {
    @Override
    public String description() {
        return ToolNames.description(tool.description());
    }

    @Override
    public Map<String, @Nullable Object> inputSchema() {
        return tool.inputSchema();
    }

    @Override
    public ToolResult call(String arguments, @Nullable Object conversation) {
        caller.enter();
        try {
            Tools.Result result = tools.call(tool, members(arguments));
            String text = ToolTexts.of(result.parts());
            return switch (result.outcome()) {
                case COMPLETED -> ToolResult.success(text);
                case FAILED -> ToolResult.error("The tool has failed: " + text);
                case QUESTION -> {
                    var unused = tools.decline(tool, result);
                    yield ToolResult.error(
                            "The tool asked a question, which the hub declined as no user can answer: " + text);
                }
            };
        } catch (A2AException refused) {
            return ToolResult.error("The call was refused: " + refused.getMessage());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw (CancellationException)
                    new CancellationException("the task on whose behalf the tool is called has ended")
                            .initCause(stopped);
        } finally {
            caller.leave();
        }
    }

    private static Map<String, @Nullable Object> members(String arguments) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        ToolTexts.arguments(arguments).forEach((name, value) -> members.put(String.valueOf(name), value));
        return members;
    }
}
