package dev.parley.mcp.agent;

import dev.parley.engine.Request;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Part;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A call of a tool, as a message states it.
 *
 * @param isProxied whether the message has the form of AgentVault's proxy, and gets its form of an answer
 * @param meta for the server
 */
record ToolCall(
        String tool, Map<String, @Nullable Object> arguments, boolean isProxied, Map<String, @Nullable Object> meta) {
    /** Member of the metadata that names the tool. */
    static final String SKILL = "skillId";

    private static final String CONTEXT = "mcp_context";

    /** A message that states no call; the message of the exception names the expected form. */
    static final class Unclear extends Exception {
        private static final long serialVersionUID = 1;

        Unclear(String problem) {
            super(problem);
        }
    }

    /** Reads the message of a request to a server with these tools. */
    static ToolCall of(Request request, String server, List<Tool> tools) throws Unclear {
        Map<String, @Nullable Object> data = null;
        for (Part part : request.parts()) {
            if (part instanceof Part.Data json && json.data() instanceof Map<?, ?> map) {
                data = Trees.map(map);
                break;
            }
        }
        Object context = request.message().metadata().get(CONTEXT);
        Map<String, @Nullable Object> meta = context == null ? Map.of() : Map.of(CONTEXT, context);
        Object skill = request.message()
                .metadata()
                .getOrDefault(SKILL, request.metadata().get(SKILL));
        if (data != null && data.containsKey("tool_name") && !hasProperty(tools, skill)) {
            return proxied(data, server, meta);
        }
        if (skill == null && tools.size() == 1) {
            skill = tools.getFirst().name();
        }
        if (!(skill instanceof String name)) {
            throw new Unclear(expected(tools));
        }
        if (data != null) {
            return new ToolCall(name, data, false, meta);
        }
        Tool tool = tools.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElse(null);
        return new ToolCall(name, arguments(request.text(), tool, tools), false, meta);
    }

    /** Whether a tool has an argument of the name by which proxies of AgentVault name tools. */
    private static boolean hasProperty(List<Tool> tools, @Nullable Object skill) {
        return tools.stream()
                .filter(tool -> tool.name().equals(skill))
                .anyMatch(tool -> Trees.map(tool.inputSchema(), "properties").containsKey("tool_name"));
    }

    /** Source: AgentVault 0.2, proxy of MCP tools. */
    private static ToolCall proxied(
            Map<String, @Nullable Object> data, String server, Map<String, @Nullable Object> meta) throws Unclear {
        if (!(data.get("tool_name") instanceof String tool)) {
            throw new Unclear("tool_name: (expected: a text)");
        }
        Object target = data.get("target_mcp_server_id");
        if (target != null && !target.equals(server)) {
            throw new Unclear("target_mcp_server_id \"" + target + "\": another server (expected: " + server + ")");
        }
        if (data.get("arguments") != null && !(data.get("arguments") instanceof Map<?, ?>)) {
            throw new Unclear("arguments: (expected: an object)");
        }
        return new ToolCall(tool, Trees.map(data, "arguments"), true, meta);
    }

    /** A text is JSON of the arguments, or the value of the only argument that the tool wants. */
    private static Map<String, @Nullable Object> arguments(String text, @Nullable Tool tool, List<Tool> tools)
            throws Unclear {
        if (text.stripLeading().startsWith("{")) {
            try {
                return JsonText.request(text.getBytes(StandardCharsets.UTF_8), Codecs.STRUCT);
            } catch (A2AException noJson) {
                throw new Unclear("text: no JSON object of arguments");
            }
        }
        Map<String, @Nullable Object> schema = tool == null ? Map.of() : tool.inputSchema();
        Map<String, @Nullable Object> properties = Trees.map(schema, "properties");
        List<String> required = Trees.texts(schema, "required");
        String only = properties.size() == 1
                ? properties.keySet().iterator().next()
                : required.size() == 1 ? required.getFirst() : null;
        if (text.isBlank() && required.isEmpty()) {
            return Map.of();
        }
        if (only == null || !"string".equals(Trees.map(properties, only).getOrDefault("type", "string"))) {
            throw new Unclear(expected(tools));
        }
        var arguments = new LinkedHashMap<String, @Nullable Object>();
        arguments.put(only, text);
        return arguments;
    }

    private static String expected(List<Tool> tools) {
        String names = tools.stream().map(Tool::name).limit(20).collect(Collectors.joining(", "));
        return "the message states no call of a tool (expected: metadata.skillId with the name of a tool, and a data part with"
                + " its arguments; tools: " + names + (tools.size() > 20 ? ", …" : "") + ")";
    }
}
