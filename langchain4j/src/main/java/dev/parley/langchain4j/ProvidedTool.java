package dev.parley.langchain4j;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.model.chat.request.json.JsonStringSchema;
import dev.langchain4j.service.memory.ChatMemoryService;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.parley.agenttools.ModelTool;
import dev.parley.agenttools.ToolResult;
import dev.parley.dialect.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tool in the types of LangChain4j. */
record ProvidedTool(ModelTool tool) implements ToolExecutor {
    static ToolProviderResult result(List<ModelTool> tools) {
        ToolProviderResult.Builder result = ToolProviderResult.builder();
        for (ModelTool tool : tools) {
            result.add(
                    ToolSpecification.builder()
                            .name(tool.name())
                            .description(tool.description())
                            .parameters(parameters(tool.inputSchema()))
                            .build(),
                    new ProvidedTool(tool));
        }
        return result.build();
    }

    @Override
    public String execute(ToolExecutionRequest request, Object memoryId) {
        return result(request, memoryId).text();
    }

    @Override
    public ToolExecutionResult executeWithContext(ToolExecutionRequest request, InvocationContext context) {
        ToolResult result = result(request, context.chatMemoryId());
        return ToolExecutionResult.builder()
                .isError(result.isError())
                .resultText(result.text())
                .build();
    }

    /** A service without memory ids has the default one for all users, so it names no conversation. */
    private ToolResult result(ToolExecutionRequest request, @Nullable Object memoryId) {
        String arguments = request.arguments();
        return tool.call(
                arguments == null ? "" : arguments, ChatMemoryService.DEFAULT.equals(memoryId) ? null : memoryId);
    }

    private static JsonObjectSchema parameters(Map<String, @Nullable Object> schema) {
        JsonObjectSchema.Builder parameters =
                JsonObjectSchema.builder().addProperties(schemas(schema.get("properties")));
        if (schema.get("required") instanceof List<?> required) {
            parameters.required(required.stream().map(String::valueOf).toList());
        }
        Map<String, JsonSchemaElement> definitions = schemas(schema.get("$defs"));
        if (!definitions.isEmpty()) {
            parameters.definitions(definitions);
        }
        return parameters.build();
    }

    private static Map<String, JsonSchemaElement> schemas(@Nullable Object members) {
        var schemas = new LinkedHashMap<String, JsonSchemaElement>();
        if (members instanceof Map<?, ?> map) {
            map.forEach((name, schema) -> schemas.put(String.valueOf(name), schema(schema)));
        }
        return schemas;
    }

    /** Not all models of LangChain4j take raw schemas; all take texts. */
    private static JsonSchemaElement schema(@Nullable Object schema) {
        return schema instanceof Map<?, ?> map
                        && "string".equals(map.get("type"))
                        && map.get("description") instanceof String description
                        && map.size() == 2
                ? JsonStringSchema.builder().description(description).build()
                : JsonRawSchema.from(new String(Json.write(schema), UTF_8));
    }
}
