package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpProvider;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.PinnedClient;
import dev.parley.mcp.client.Progress;
import dev.parley.mcp.hub.McpSource;
import dev.parley.mcp.server.FixtureHub;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with thousands of tools, and servers that cannot be reached. */
@Timeout(120)
final class LargeServerTest {
    private static final int TOOLS = 5_000;

    @TempDir
    static Path directory;

    private static HttpClient http;
    private static Hub fixture;
    private static Hub hub;

    /** Tools that answer with their names. */
    private static final class Many implements McpProvider {
        private final List<Tool> tools = IntStream.range(0, TOOLS)
                .mapToObj(i -> new Tool(
                        "tool-%04d".formatted(i),
                        null,
                        "Does one of many things. ".repeat(20) + i,
                        Map.of("type", "object", "properties", Map.of("text", Map.of("type", "string"))),
                        null,
                        Map.of()))
                .toList();

        @Override
        public Set<String> offers() {
            return Set.of("tools");
        }

        @Override
        public List<Tool> tools(CallContext caller) {
            return tools;
        }

        @Override
        public Outcome<CallResult> call(Invocation call, Exchange exchange) {
            String text = call.name() + " " + call.arguments().get("text");
            return new Outcome.Complete<>(CallResult.text(text));
        }
    }

    @BeforeAll
    static void start() throws Exception {
        http = HttpClient.newHttpClient();
        fixture = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .extension(new FixtureHub(new Many()))
                .start();
        Path file = directory.resolve("servers.json");
        Map<String, Object> servers = Map.of(
                "many", Map.of("url", fixture.url() + FixtureHub.PATH),
                "missing", Map.of("command", directory.resolve("missing").toString()),
                "closed", Map.of("url", "http://127.0.0.1:1/mcp", "timeout", 8));
        Files.write(file, JsonText.write(Codecs.STRUCT, new RawJson().with("mcpServers", servers)));
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .extension(new McpSource())
                .set("mcp-servers", file.toString())
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
        fixture.close();
        http.shutdownNow();
    }

    private static Task send(String agent, String skill, Map<String, @Nullable Object> data) {
        var send = new SendMessage(
                null, Message.user(Part.data(data)), SendConfiguration.DEFAULTS, new RawJson().with("skillId", skill));
        return (Task) AgentClient.connect(hub.agentUrl(agent)).call(send, CallContext.anonymous());
    }

    private static Map<String, @Nullable Object> answer(Task task) {
        assertThat(task.state()).as(String.valueOf(task.status().message())).isEqualTo(TaskState.COMPLETED);
        return task.artifacts().getFirst().parts().getFirst() instanceof Part.Data data
                ? Trees.map(data.data())
                : new RawJson().with("text", task.text());
    }

    @Test
    @DisplayName("T11: the card of a server with 5,000 tools stays small; all tools are listed in pages, and called")
    void cards() throws Exception {
        String card = http.send(
                        HttpRequest.newBuilder(URI.create(hub.agentUrl("many") + "/.well-known/agent-card.json"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
        List<Skill> skills = AgentClient.connect(hub.agentUrl("many")).card().skills();
        var names = new HashSet<Object>();
        var pages = new ArrayList<Integer>();
        String cursor = null;
        do {
            Map<String, @Nullable Object> page =
                    answer(send("many", "tools.list", new RawJson().with("cursor", cursor)));
            Trees.maps(page, "tools").forEach(tool -> names.add(tool.get("name")));
            pages.add(Json.write(page).length);
            cursor = Trees.text(page, "nextCursor");
        } while (cursor != null);

        assertThat(card.getBytes(UTF_8)).hasSizeLessThan(512 * 1024);
        assertThat(skills).hasSize(201);
        assertThat(skills.getLast().id()).isEqualTo("tools.list");
        assertThat(skills.getLast().description()).contains("4800");
        assertThat(names).hasSize(TOOLS);
        assertThat(pages).allMatch(size -> size < 300 * 1024);
        assertThat(answer(send("many", "tool-4999", Map.of("text", "hi")))).containsValue("tool-4999 hi");
        assertThat(send("many", "tool-5000", Map.of("text", "hi")).state()).isEqualTo(TaskState.REJECTED);
    }

    @Test
    @DisplayName("T11: clients of MCP list the tools of the card, and call the others by their names")
    void clients() throws Exception {
        try (McpClient client = PinnedClient.http(hub.url() + "/mcp", http, Revision.V2026_07_28)) {
            List<String> names = client.tools().tools().stream().map(Tool::name).toList();
            String far = String.valueOf(called(client, "many__tool-4999", Map.of("text", "far")));

            assertThat(names).contains("many__tool-0000", "many__tools.list").hasSizeLessThan(220);
            assertThat(far).contains("tool-4999 far");
            assertThat(String.valueOf(called(client, "many__tools.list", Map.of())))
                    .contains("tool-0099", "nextCursor");
            assertThat(String.valueOf(called(client, "many__nothing", Map.of())))
                    .contains("isError=true");
        }
    }

    private static Object called(McpClient client, String tool, Map<String, @Nullable Object> arguments)
            throws InterruptedException {
        return client.call(
                new Invocation(tool, arguments, Map.of(), null, Map.of()), Duration.ofSeconds(30), Progress.NONE);
    }

    @Test
    @DisplayName(
            "C8, C13: calls to a server that cannot be reached are refused at once with 503, Retry-After and the reason")
    void unreachable() throws Exception {
        for (String server : List.of("missing", "closed")) {
            HttpResponse<String> rest = post(
                    hub.agentUrl(server) + "/message:send",
                    Map.of(
                            "message",
                            Map.of("messageId", "1", "role", "ROLE_USER", "parts", List.of(Map.of("text", "x")))));
            HttpResponse<String> tool = post(
                    hub.url() + "/mcp",
                    Map.of(
                            "jsonrpc",
                            "2.0",
                            "id",
                            1,
                            "method",
                            "tools/call",
                            "params",
                            Map.of(
                                    "name",
                                    server + "__find",
                                    "arguments",
                                    Map.of(),
                                    "_meta",
                                    Map.of(
                                            "io.modelcontextprotocol/protocolVersion",
                                            "2026-07-28",
                                            "io.modelcontextprotocol/clientCapabilities",
                                            Map.of()))),
                    "MCP-Protocol-Version",
                    "2026-07-28",
                    "Mcp-Method",
                    "tools/call",
                    "Mcp-Name",
                    server + "__find");

            for (HttpResponse<String> answer : List.of(rest, tool)) {
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
                assertThat(answer.headers().firstValue("Retry-After")).isPresent();
                assertThat(answer.body()).contains(server, "cannot be reached").doesNotContain("not found");
            }
        }
    }

    private static HttpResponse<String> post(String url, Map<String, ?> body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .header("Accept", "application/json, text/event-stream");
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return http.send(
                request.POST(BodyPublishers.ofByteArray(Json.write(body))).build(), BodyHandlers.ofString());
    }
}
