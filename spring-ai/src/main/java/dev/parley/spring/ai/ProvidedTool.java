package dev.parley.spring.ai;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.agenttools.ModelTool;
import dev.parley.agenttools.ToolResult;
import dev.parley.dialect.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.execution.DefaultToolCallResultConverter;

/** Tool in the types of Spring AI. */
record ProvidedTool(ModelTool tool, ToolDefinition getToolDefinition) implements ToolCallback {
    static ToolCallback[] of(List<ModelTool> tools) {
        return tools.stream().map(ProvidedTool::of).toArray(ToolCallback[]::new);
    }

    private static ProvidedTool of(ModelTool tool) {
        return new ProvidedTool(
                tool,
                ToolDefinition.builder()
                        .name(tool.name())
                        .description(tool.description())
                        .inputSchema(new String(Json.write(tool.inputSchema()), UTF_8))
                        .build());
    }

    @Override
    public String call(String arguments) {
        return call(arguments, null);
    }

    /** Results have no flag for errors in Spring AI, and are JSON, which some models need. */
    @Override
    public String call(String arguments, @Nullable ToolContext context) {
        Object conversation = context == null ? null : context.getContext().get(ChatMemory.CONVERSATION_ID);
        ToolResult result = tool.call(arguments, conversation);
        return new DefaultToolCallResultConverter()
                .convert(result.isError() ? "Error: " + result.text() : result.text(), String.class);
    }
}
