import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.CompleteRequest;
import io.modelcontextprotocol.spec.McpSchema.CompleteRequest.CompleteArgument;
import io.modelcontextprotocol.spec.McpSchema.ElicitFormRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.GetPromptRequest;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.PromptReference;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.ResourceReference;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Calls the agents of a hub as tools of MCP, by the official Java SDK, once over each transport.
 *
 * <p>Prints one line of JSON for each operation: {client, dialect, binding, operation, result, detail}. The arguments are the
 * URL of a hub, the URL of one that requires a token, the token, and a command that serves the first one over stdio.
 */
final class Main {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String REVISION = "2025-11-25";
    private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

    private final McpAsyncClient client;
    private final BlockingQueue<ProgressNotification> progress = new LinkedBlockingQueue<>();
    private final BlockingQueue<ElicitFormRequest> questions = new LinkedBlockingQueue<>();
    private final BlockingQueue<ElicitResult> answers = new LinkedBlockingQueue<>();
    private final BlockingQueue<List<Tool>> changes = new LinkedBlockingQueue<>();

    private Main(McpClientTransport transport) {
        client = McpClient.async(transport)
                .requestTimeout(LIMIT)
                .initializationTimeout(LIMIT)
                .capabilities(McpSchema.ClientCapabilities.builder().elicitation().build())
                .elicitation(question -> {
                    questions.add(question);
                    return Mono.just(answers.remove());
                })
                .progressConsumer(seen -> Mono.fromRunnable(() -> progress.add(seen)))
                .toolsChangeConsumer(tools -> Mono.fromRunnable(() -> changes.add(tools)))
                .build();
    }

    private static final PrintStream OUT = System.out;

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // libraries print there, too
        Main http = new Main(http(arguments[0], "/mcp", null));
        http.everything("HTTP");
        tell("HTTP", "list changed", http::listChanged);
        tell("HTTP", "address of one agent", () -> oneAgent(arguments[0]));
        tell("HTTP", "bearer token", () -> bearer(arguments[1], arguments[2]));
        tell("HTTP", "long task", () -> handle(arguments[1], arguments[2]));
        String[] command = JSON.readValue(arguments[3], String[].class);
        Main stdio = new Main(new StdioClientTransport(
                ServerParameters.builder(command[0])
                        .args(List.of(command).subList(1, command.length))
                        .build(),
                JSON));
        stdio.everything("stdio");
        stdio.client.closeGracefully().block(LIMIT);
        System.exit(0);
    }

    private static McpClientTransport http(String hub, String path, String token) {
        var transport = HttpClientStreamableHttpTransport.builder(hub).endpoint(path);
        if (token != null) {
            transport.httpRequestCustomizer(
                    (request, method, uri, body, context) -> request.header("Authorization", "Bearer " + token));
        }
        return transport.build();
    }

    private void everything(String binding) throws Exception {
        tell(binding, "connect", this::connect);
        tell(binding, "list tools", this::listTools);
        tell(binding, "call", this::call);
        tell(binding, "failed call", this::failed);
        tell(binding, "unknown tool", () -> refused(call("nothing__here", Map.of()), "nothing__here", -32602));
        tell(binding, "progress", this::progress);
        tell(binding, "question answered", this::question);
        tell(binding, "question with a form", this::form);
        tell(binding, "question declined", this::declined);
        tell(binding, "cancel", "not offered", "this client tells no server that a call is given up");
        tell(binding, "resources", this::resources);
        tell(binding, "artifact as a resource", this::artifact);
        tell(binding, "prompts", this::prompts);
        tell(binding, "completion", this::completion);
    }

    private Mono<CallToolResult> call(String tool, Map<String, Object> arguments) {
        return client.callTool(CallToolRequest.builder(tool).arguments(arguments).build());
    }

    private String connect() {
        var answer = client.initialize().block(LIMIT);
        expect(answer.serverInfo().name(), "parley");
        return expect(answer.protocolVersion(), REVISION);
    }

    private String listTools() {
        var tools = new LinkedHashMap<String, Tool>();
        client.listTools().block(LIMIT).tools().forEach(tool -> tools.put(tool.name(), tool));
        expect(tools.get("counter__count").description().contains("Counts from 1"), true);
        return expect(
                tools.get("booking__order").inputSchema().get("properties"), Map.of("guests", Map.of("type", "integer")));
    }

    private String call() {
        CallToolResult result = call("echo__echo", Map.of("message", "Grüße, 世界 🌍")).block(LIMIT);
        expect(((Map<?, ?>) result.structuredContent()).get("state"), "completed");
        return expect(text(result), "Grüße, 世界 🌍");
    }

    private String failed() {
        CallToolResult result = call("failing__fail", Map.of("message", "x")).block(LIMIT);
        expect(result.isError(), true);
        return expect(text(result).contains("no luck"), true);
    }

    private String progress() throws InterruptedException {
        CallToolResult result = client.callTool(CallToolRequest.builder("counter__count")
                        .arguments(Map.of("message", "3"))
                        .progressToken("p")
                        .build())
                .block(LIMIT);
        expect(text(result), "Counted to 3.");
        double last = -1;
        boolean isNamed = false;
        while (!isNamed) {
            ProgressNotification next = Objects.requireNonNull(progress.poll(5, TimeUnit.SECONDS), "no progress");
            expect(next.progress() > last, true);
            last = next.progress();
            isNamed = next.message().contains("of 3");
        }
        return expect(isNamed, true);
    }

    private String question() throws InterruptedException {
        answers.add(accept(Map.of("answer", "Ada")));
        answers.add(accept(Map.of("answer", "a car")));
        String text = text(call("interview__interview", Map.of("message", "Hello")).block(LIMIT));
        expect(text, "Name: Ada\nWish: a car\n");
        expect(questions.take().message(), "What is your name?");
        return expect(questions.take().message(), "What do you want, Ada?");
    }

    private String form() throws InterruptedException {
        answers.add(accept(Map.of("table", "window", "quiet", true)));
        expect(text(call("booking__order", Map.of("guests", 2)).block(LIMIT)), "window for 2, quiet");
        Map<?, ?> properties = (Map<?, ?>) questions.take().requestedSchema().get("properties");
        return expect(properties.keySet().containsAll(List.of("table", "quiet")), true);
    }

    private String declined() throws InterruptedException {
        answers.add(ElicitResult.builder(ElicitResult.Action.DECLINE).build());
        CallToolResult result = call("booking__order", Map.of("guests", 2)).block(LIMIT);
        questions.take();
        expect(result.isError(), true);
        return expect(text(result).contains("canceled"), true);
    }

    private static ElicitResult accept(Map<String, Object> content) {
        return ElicitResult.builder(ElicitResult.Action.ACCEPT).content(content).build();
    }

    private String resources() {
        var resources = client.listResources().block(LIMIT).resources();
        expect(resources.stream().anyMatch(each -> each.uri().equals("parley://agents/echo/card")), true);
        var templates = client.listResourceTemplates().block(LIMIT).resourceTemplates();
        expect(templates.stream().anyMatch(each -> each.name().equals("card")), true);
        refused(read("parley://agents/nothing/card"), "nothing", -32002);
        var card = (McpSchema.TextResourceContents)
                read("parley://agents/echo/card").block(LIMIT).contents().getFirst();
        return expect(card.text().contains("\"name\":\"echo\""), true);
    }

    private Mono<McpSchema.ReadResourceResult> read(String uri) {
        return client.readResource(new ReadResourceRequest(uri));
    }

    private String artifact() {
        CallToolResult made = call("files__make", Map.of("message", "x")).block(LIMIT);
        var image = (McpSchema.ImageContent) find(made, McpSchema.ImageContent.class);
        expect(Base64.getDecoder().decode(image.data()).length, 4);
        var link = (McpSchema.ResourceLink) find(made, McpSchema.ResourceLink.class);
        var blob = (McpSchema.BlobResourceContents)
                read(link.uri()).block(LIMIT).contents().getFirst();
        return expect(Base64.getDecoder().decode(blob.blob()).length, 100_000);
    }

    private static Object find(CallToolResult result, Class<?> type) {
        return result.content().stream().filter(type::isInstance).findFirst().orElseThrow();
    }

    private String prompts() {
        var prompts = client.listPrompts().block(LIMIT).prompts();
        expect(prompts.stream().anyMatch(prompt -> prompt.name().equals("echo__echo")), true);
        var prompt = client.getPrompt(new GetPromptRequest("echo__echo", Map.of("message", "good evening")))
                .block(LIMIT);
        return expect(
                ((TextContent) prompt.messages().getFirst().content()).text().contains("good evening"), true);
    }

    private String completion() {
        var prompt = client.completeCompletion(new CompleteRequest(
                        new PromptReference("echo__echo"), new CompleteArgument("message", "say")))
                .block(LIMIT);
        expect(prompt.completion().values(), List.of("Say it again"));
        var agent = client.completeCompletion(new CompleteRequest(
                        new ResourceReference("parley://agents/{agent}/card"), new CompleteArgument("agent", "ec")))
                .block(LIMIT);
        return expect(agent.completion().values(), List.of("echo"));
    }

    private String listChanged() throws InterruptedException {
        call("opener__open", Map.of("message", "new-java")).block(LIMIT);
        List<Tool> tools = changes.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
        Objects.requireNonNull(tools, "no change");
        return expect(
                client.listTools().block(LIMIT).tools().stream()
                        .anyMatch(tool -> tool.name().equals("new-java__work")),
                true);
    }

    private static String oneAgent(String hub) {
        var one = new Main(http(hub, "/agents/echo/mcp", null)).client;
        var names = one.listTools().block(LIMIT).tools().stream()
                .map(Tool::name)
                .filter(name -> name.contains("__"))
                .toList();
        one.closeGracefully().block(LIMIT);
        return expect(names, List.of("echo__echo"));
    }

    private static String bearer(String hub, String token) {
        Main known = new Main(http(hub, "/mcp", token));
        expect(text(known.call("echo__echo", Map.of("message", "secret")).block(LIMIT)), "secret");
        known.client.closeGracefully().block(LIMIT);
        try {
            new Main(http(hub, "/mcp", null)).client.listTools().block(LIMIT);
        } catch (RuntimeException refusal) {
            return refusal.getClass().getName();
        }
        throw new AssertionError("called without a token");
    }

    private static String handle(String hub, String token) {
        Main known = new Main(http(hub, "/mcp", token));
        Map<?, ?> task = structured(known.call("counter__count", Map.of("message", "600")));
        expect(task.get("state"), "working");
        Map<String, Object> id = Map.of("taskId", task.get("taskId"));
        expect(structured(known.call("task_status", id)).get("state"), "working");
        String state = expect(structured(known.call("task_cancel", id)).get("state"), "canceled");
        known.client.closeGracefully().block(LIMIT);
        return state;
    }

    private static Map<?, ?> structured(Mono<CallToolResult> call) {
        return (Map<?, ?>) call.block(LIMIT).structuredContent();
    }

    private static String text(CallToolResult result) {
        var text = new StringBuilder();
        result.content().forEach(block -> {
            if (block instanceof TextContent one) {
                text.append(one.text());
            }
        });
        return text.toString();
    }

    private static String refused(Mono<?> call, String name, int code) {
        try {
            call.block(LIMIT);
        } catch (McpError error) {
            expect(error.getJsonRpcError().message().contains(name), true);
            return expect(error.getJsonRpcError().code(), code);
        }
        throw new AssertionError("not refused");
    }

    private static String expect(Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError(actual + " (expected: " + expected + ")");
        }
        return String.valueOf(actual);
    }

    private static void tell(String binding, String operation, Callable<String> work) throws Exception {
        try {
            tell(binding, operation, "passed", work.call());
        } catch (Exception | Error failure) {
            var trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            tell(binding, operation, "failed", trace.toString());
        }
    }

    private static void tell(String binding, String operation, String result, String detail) throws Exception {
        var check = new LinkedHashMap<String, String>();
        check.put("client", "Java 2.1.0");
        check.put("dialect", "clients");
        check.put("binding", binding + " " + REVISION);
        check.put("operation", operation);
        check.put("result", result);
        check.put("detail", detail);
        OUT.println(JSON.writeValueAsString(check));
    }
}
