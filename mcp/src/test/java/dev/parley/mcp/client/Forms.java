package dev.parley.mcp.client;

import static java.util.Objects.requireNonNull;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.ResultModel;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * MCP server for tests with a tool {@code form} that asks by a form of each kind, which its argument {@code text} names, and a tool {@code
 * forms} that asks two questions at once. Both answer with the actions and contents that they got.
 */
public final class Forms implements McpProvider {
    private static final Map<String, Object> CHOICE = Map.of("type", "string", "enum", List.of("red", "blue"));

    /** Properties by the kinds of forms, each with a value that fits. */
    private static final Map<String, Map.Entry<Object, Object>> KINDS = Map.of(
            "string", Map.entry(Map.of("type", "string"), "Ada"),
            "number", Map.entry(Map.of("type", "number"), 1.5),
            "integer", Map.entry(Map.of("type", "integer", "minimum", 1), 3),
            "boolean", Map.entry(Map.of("type", "boolean"), true),
            "enum", Map.entry(CHOICE, "red"),
            "titled", Map.entry(Map.of("type", "string", "oneOf", List.of(Map.of("const", "r", "title", "Red"))), "r"),
            "multi", Map.entry(Map.of("type", "array", "items", CHOICE), List.of("red", "blue")));

    /** Names of all kinds of questions. */
    public static final List<String> ALL =
            List.of("string", "number", "integer", "boolean", "enum", "titled", "multi", "empty", "optional", "url");

    private static final List<String> KEYS = List.of("first", "second");

    /** Parameters of the question of a kind. */
    static Map<String, @Nullable Object> params(String kind) {
        if (kind.equals("url")) {
            return new RawJson()
                    .with("mode", "url")
                    .with("message", "Please sign in")
                    .with("url", "https://example.com/signin")
                    .with("elicitationId", "1");
        }
        Map<String, Object> schema = switch (kind) {
            case "empty" -> Map.of("type", "object", "properties", Map.of());
            case "optional" ->
                Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of(
                                "colour",
                                Map.of("type", "string", "default", "green"),
                                "note",
                                Map.of("type", "string")));
            case "action" ->
                Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of("action", Map.of("type", "string")),
                        "required",
                        List.of("action"));
            default ->
                Map.of(
                        "type",
                        "object",
                        "properties",
                        Map.of("value", requireNonNull(KINDS.get(kind)).getKey()),
                        "required",
                        List.of("value"));
        };
        return new RawJson()
                .with("mode", "form")
                .with("message", "May I? " + kind)
                .with("requestedSchema", schema);
    }

    /** Content that fits a form of a kind. */
    public static Map<String, @Nullable Object> content(String kind) {
        return KINDS.containsKey(kind)
                ? new RawJson().with("value", KINDS.get(kind).getValue())
                : new RawJson();
    }

    /** The two questions of {@code forms}. */
    static Map<String, Map<String, @Nullable Object>> two() {
        var two = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        two.put(KEYS.getFirst(), request("string"));
        two.put(KEYS.getLast(), request("boolean"));
        return two;
    }

    private static Map<String, @Nullable Object> request(String kind) {
        return new RawJson().with("method", "elicitation/create").with("params", params(kind));
    }

    /** Text about answers. */
    static String text(Map<String, Map<String, @Nullable Object>> answers) {
        var text = new StringBuilder("the user says");
        new TreeMap<>(answers)
                .values()
                .forEach(answer -> text.append(' ')
                        .append(answer.get("action"))
                        .append(' ')
                        .append(answer.get("content")));
        return text.toString();
    }

    @Override
    public Set<String> offers() {
        return Set.of("tools");
    }

    @Override
    public List<Tool> tools(CallContext caller) {
        Map<String, Object> input = Map.of("type", "object", "properties", Map.of("text", Map.of("type", "string")));
        return List.of(
                new Tool("form", null, "Asks", Trees.map(input), null, Map.of()),
                new Tool("forms", null, "Asks twice", Trees.map(input), null, Map.of()));
    }

    @Override
    public Outcome<CallResult> call(Invocation call, Exchange exchange) {
        boolean isDouble = call.name().equals("forms");
        if (!isDouble && !call.name().equals("form")) {
            throw McpException.notFound("tool", call.name());
        }
        if (call.answers().isEmpty()) {
            Map<String, Map<String, @Nullable Object>> questions = isDouble
                    ? two()
                    : Map.of("q1", request(String.valueOf(call.arguments().get("text"))));
            return new Outcome.Questions<>(ResultModel.INPUT_REQUESTS.fromJson(questions), "asked");
        }
        var ordered = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        (isDouble ? KEYS : List.of("q1"))
                .forEach(key -> ordered.put(
                        key,
                        Trees.of(
                                ResultModel.INPUT_RESPONSE,
                                requireNonNull(call.answers().get(key)))));
        return new Outcome.Complete<>(CallResult.text(text(ordered)));
    }
}
