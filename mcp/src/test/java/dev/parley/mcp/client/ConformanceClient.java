package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Client for the conformance kit of MCP, which names the scenario in the environment and the server in the last argument. It does the
 * same in each scenario, as far as the kit lets a client: it lists and calls all that the server has.
 */
public final class ConformanceClient {
    private static final String REDIRECT = "http://localhost:3000/callback";
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private ConformanceClient() {}

    public static void main(String[] arguments) throws Exception {
        String scenario = System.getenv().getOrDefault("MCP_CONFORMANCE_SCENARIO", "");
        String context = System.getenv().getOrDefault("MCP_CONFORMANCE_CONTEXT", "{}");
        Map<String, @Nullable Object> given = JsonText.read(context.getBytes(UTF_8), Codecs.STRUCT);
        URI url = URI.create(arguments[arguments.length - 1]);
        HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        McpCredentials credentials = scenario.startsWith("auth/")
                ? new OAuth(url, http, registration(scenario, given, http))
                : McpCredentials.NONE;
        try (McpClient client = McpClient.connect(
                () -> new HttpTransport(url, http, Map.of(), credentials), McpClient.Limits.DEFAULT, null)) {
            run(scenario, given, client);
        }
        System.exit(0); // threads of the HTTP client live on for a while
    }

    private static OAuth.Registration registration(
            String scenario, Map<String, @Nullable Object> context, HttpClient http) {
        String id = Trees.text(context, "client_id");
        String secret = Trees.text(context, "client_secret");
        return switch (scenario) {
            case "auth/client-credentials-basic", "auth/client-credentials-jwt" ->
                new OAuth.Registration(id, secret, Trees.text(context, "private_key_pem"), null, null, "", null);
            default ->
                new OAuth.Registration(
                        id,
                        secret,
                        null,
                        null,
                        "https://conformance-test.local/client-metadata.json",
                        REDIRECT,
                        address -> redirect(http, address));
        };
    }

    /** The authorization server of the kit consents by itself. */
    private static URI redirect(HttpClient http, URI address) throws IOException, InterruptedException {
        HttpResponse<Void> answer =
                http.send(HttpRequest.newBuilder(address).GET().build(), HttpResponse.BodyHandlers.discarding());
        return URI.create(answer.headers()
                .firstValue("Location")
                .orElseThrow(() -> new IOException("status " + answer.statusCode())));
    }

    private static void run(String scenario, Map<String, @Nullable Object> context, McpClient client)
            throws InterruptedException {
        List<Tool> tools = client.tools().tools();
        switch (scenario) {
            case "http-custom-headers" -> {
                for (Map<String, @Nullable Object> call : Trees.maps(context, "toolCalls")) {
                    call(client, String.valueOf(call.get("name")), Trees.map(call, "arguments"));
                }
            }
            case "json-schema-ref-no-deref", "request-metadata", "initialize" -> {}
            case "json-schema-2020-12-preservation" ->
                call(
                        client,
                        "json_schema_echo",
                        new RawJson()
                                .with(
                                        "schema",
                                        named(tools, "json_schema_2020_12_tool").inputSchema()));
            case "http-standard-headers" -> {
                for (Tool tool : tools) {
                    call(client, tool.name(), Map.of());
                }
                client.request("resources/list", Map.of());
                client.read("file:///path/to/file%20name.txt");
                client.request("prompts/list", Map.of());
                client.request("prompts/get", new RawJson().with("name", "test_prompt"));
            }
            default -> {
                for (Tool tool : tools) {
                    call(client, tool.name(), arguments(tool));
                }
            }
        }
    }

    private static Tool named(List<Tool> tools, String name) {
        return tools.stream()
                .filter(tool -> tool.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Numbers for the numbers that a tool wants, and texts for its texts. */
    private static Map<String, @Nullable Object> arguments(Tool tool) {
        var arguments = new LinkedHashMap<String, @Nullable Object>();
        Map<String, @Nullable Object> properties = Trees.map(tool.inputSchema(), "properties");
        properties.forEach((name, property) -> arguments.put(
                name,
                switch (String.valueOf(Trees.map(property).get("type"))) {
                    case "number", "integer" -> 3;
                    case "boolean" -> true;
                    default -> "text";
                }));
        return arguments;
    }

    private static void call(McpClient client, String tool, Map<String, @Nullable Object> arguments)
            throws InterruptedException {
        var invocation = new Invocation(tool, arguments, Map.of(), null, Map.of());
        Outcome<CallResult> outcome = client.call(invocation, LIMIT, Progress.NONE);
        while (outcome instanceof Outcome.Questions<CallResult>(var requests, var state)) {
            var answers = new LinkedHashMap<String, InputResponse>();
            requests.forEach((key, request) -> Elicitation.of(request)
                    .ifPresent(question -> answers.put(key, question.accept(content(question)))));
            outcome = client.call(new Invocation(tool, arguments, answers, state, Map.of()), LIMIT, Progress.NONE);
        }
    }

    /** Required members without a default. */
    private static Map<String, @Nullable Object> content(Elicitation question) {
        var content = new LinkedHashMap<String, @Nullable Object>();
        Map<String, @Nullable Object> properties = Trees.map(question.schema(), "properties");
        for (String name : Trees.texts(question.schema(), "required")) {
            Map<String, @Nullable Object> type = Trees.map(properties, name);
            if (!type.containsKey("default")) {
                content.put(name, "boolean".equals(type.get("type")) ? true : "text");
            }
        }
        return content;
    }
}
