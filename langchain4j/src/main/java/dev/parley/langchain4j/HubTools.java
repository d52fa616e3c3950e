package dev.parley.langchain4j;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.langchain4j.service.tool.ToolProviderResult;
import dev.parley.dialect.Json;
import dev.parley.engine.spi.Tools;
import dev.parley.protocol.A2AException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Tools of the MCP servers of a hub, for the service of a {@link ChatAgent} on that hub. A call is made on behalf of the caller of the
 * agent, under the rules for it; see {@link Tools}.
 *
 * <p>A tool that asks its user gets no answer: its question is declined, and the result for the model says so.
 */
public final class HubTools implements ToolProvider {
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
    public ToolProviderResult provideTools(ToolProviderRequest request) {
        HostedCall caller = ChatAgent.current()
                .orElseThrow(() -> new IllegalStateException("HubTools: no request of a ChatAgent on this thread"));
        Tools tools = caller.request().tools();
        ToolProviderResult.Builder result = ToolProviderResult.builder();
        var names = new ToolNames();
        for (Tools.Description tool : tools.list()) {
            result.add(
                    ToolSpecification.builder()
                            .name(names.add(tool.name()))
                            .description(ToolNames.description(tool.description()))
                            .parameters(parameters(tool.inputSchema()))
                            .build(),
                    new Call(caller, tools, tool));
        }
        return result.build();
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
            map.forEach((name, schema) ->
                    schemas.put(String.valueOf(name), JsonRawSchema.from(new String(Json.write(schema), UTF_8))));
        }
        return schemas;
    }

    /** A tool for one request. */
    private record Call(HostedCall caller, Tools tools, Tools.Description tool) implements ToolExecutor {
        @Override
        public String execute(ToolExecutionRequest request, Object memoryId) {
            return result(request).resultText();
        }

        @Override
        public ToolExecutionResult executeWithContext(ToolExecutionRequest request, InvocationContext context) {
            return result(request);
        }

        private ToolExecutionResult result(ToolExecutionRequest request) {
            caller.enter();
            try {
                Tools.Result result = tools.call(tool, arguments(request));
                String text = ToolTexts.of(result.parts());
                return switch (result.outcome()) {
                    case COMPLETED -> ToolTexts.success(text);
                    case FAILED -> ToolTexts.error("The tool has failed: " + text);
                    case QUESTION -> {
                        var unused = tools.decline(tool, result);
                        yield ToolTexts.error("The tool asks its user, who has declined: " + text);
                    }
                };
            } catch (A2AException refused) {
                return ToolTexts.error("The call was refused: " + refused.getMessage());
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw (CancellationException)
                        new CancellationException("the task on whose behalf the tool is called has ended")
                                .initCause(stopped);
            } finally {
                caller.leave();
            }
        }

        private static Map<String, @Nullable Object> arguments(ToolExecutionRequest request) {
            var arguments = new LinkedHashMap<String, @Nullable Object>();
            ToolTexts.arguments(request).forEach((name, value) -> arguments.put(String.valueOf(name), value));
            return arguments;
        }
    }
}
