package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agents of a hub as servers of its MCP registry. */
@Timeout(120)
final class McpRegistryTest {
    private static final String OFFICIAL = "io.modelcontextprotocol.registry/official";
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+");
    private static final String ECHO = "com.example.hub/agents.echo";

    @TempDir
    Path directory = Path.of("");

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ofMillis(200))
                .set("registry-publisher", "hub.example.com");
    }

    private static Agent agent(String name, String description) {
        return Agent.named(name, description)
                .skill("say", "Says it again", "talk")
                .handle((request, reply) -> reply.complete(request.text()));
    }

    private static HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(request.timeout(Duration.ofSeconds(60)).build(), BodyHandlers.ofByteArray());
        }
    }

    private static Map<?, ?> get(Hub hub, String path, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(hub.url() + path));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        HttpResponse<byte[]> answer = send(request);
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("application/");
        return Json.read(answer.body(), Map.class);
    }

    private static Object at(@Nullable Object json, Object... path) {
        Object here = Objects.requireNonNull(json);
        for (Object step : path) {
            here = Objects.requireNonNull(
                    step instanceof Integer index ? ((List<?>) here).get(index) : ((Map<?, ?>) here).get(step));
        }
        return here;
    }

    private static List<String> names(Map<?, ?> list) {
        var names = new ArrayList<String>();
        ((List<?>) at(list, "servers")).forEach(each -> names.add(String.valueOf(at(each, "server", "name"))));
        return names;
    }

    private static String path(String name, String version) {
        return "/v0.1/servers/" + URLEncoder.encode(name, UTF_8) + "/versions/" + version;
    }

    private static Object toolsOf(Object address) throws Exception {
        HttpResponse<byte[]> tools = send(HttpRequest.newBuilder(URI.create(String.valueOf(address)))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/list")
                .POST(BodyPublishers.ofString(
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                                + "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                                + "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"test\",\"version\":\"1\"},"
                                + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}")));
        assertThat(tools.statusCode()).as(new String(tools.body(), UTF_8)).isEqualTo(200);
        return at(Json.read(tools.body(), Map.class), "result", "tools");
    }

    /** The rules of the schema server.json of 11 December 2025 for the members that are written here. */
    private static void assertThatItIsAServer(Object element) {
        Map<?, ?> server = (Map<?, ?>) at(element, "server");
        assertThat(server.get("$schema"))
                .isEqualTo("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json");
        assertThat(String.valueOf(server.get("name"))).matches(NAME).hasSizeBetween(3, 200);
        assertThat(String.valueOf(server.get("description"))).hasSizeBetween(1, 100);
        assertThat(String.valueOf(server.get("version"))).hasSizeBetween(1, 255).isNotEqualTo("latest");
        assertThat(String.valueOf(server.get("title"))).hasSizeBetween(1, 100);
        for (Object remote : (List<?>) at(server, "remotes")) {
            assertThat(at(remote, "type")).isEqualTo("streamable-http");
            assertThat(String.valueOf(at(remote, "url"))).matches("https?://[^\\s]+");
        }
        Map<?, ?> meta = (Map<?, ?>) at(element, "_meta", OFFICIAL);
        assertThat(meta.get("status")).isIn("active", "deprecated", "deleted");
        assertThat(meta.get("isLatest")).isInstanceOf(Boolean.class);
        for (String time : List.of("publishedAt", "updatedAt", "statusChangedAt")) {
            assertThat(Instant.parse(String.valueOf(meta.get(time)))).isAfter(Instant.EPOCH);
        }
    }

    @Test
    @DisplayName(
            "agents of the hub, hosted later too, are servers of the MCP registry, at addresses that serve their tools")
    void agentsAreServers() throws Exception {
        String text = "Echoes " + "\uD83D\uDE00".repeat(120);
        try (Hub hub =
                hub().agents(agent("echo", text), agent("parrot", "Repeats")).start()) {
            Map<?, ?> list = get(hub, "/v0.1/servers?version=latest&limit=100");

            assertThat(names(list)).contains(ECHO, "com.example.hub/agents.parrot", "com.example.hub/agents.mcp");
            ((List<?>) at(list, "servers")).forEach(McpRegistryTest::assertThatItIsAServer);
            Map<?, ?> echo = get(hub, path(ECHO, "latest"));
            String version = String.valueOf(at(echo, "server", "version"));
            assertThat(get(hub, path(ECHO, version))).isEqualTo(echo);
            Object address = at(echo, "server", "remotes", 0, "url");
            assertThat(address).isEqualTo(hub.agentUrl("echo") + "/mcp");
            assertThat(at(toolsOf(address), 0, "name")).isEqualTo("echo__say");
            Object ofAll = at(get(hub, path("com.example.hub/agents.mcp", "latest")), "server", "remotes", 0, "url");
            assertThat(ofAll).isEqualTo(hub.url() + "/mcp");
            assertThat(String.valueOf(toolsOf(ofAll))).contains("echo__say", "parrot__say");

            assertThat(names(get(hub, "/v0.1/servers?search=PARR"))).containsExactly("com.example.hub/agents.parrot");
            assertThat(names(get(hub, "/v0.1/servers?version=9.9.9"))).isEmpty();
            assertThat(names(get(hub, "/v0.1/servers?updated_since=2999-01-01T00:00:00Z")))
                    .isEmpty();
            assertThat(names(get(hub, "/v0.1/servers?updated_since=2020-01-01T00:00:00Z")))
                    .contains(ECHO);
            assertThat(get(hub, path(ECHO, "0.0.0-none")).keySet()).hasToString("[error]");
            assertThat(at(get(hub, "/registry/agents?binding=MCP&skill=say&pageSize=1"), "agents", 0, "endpoints")
                            .toString())
                    .contains("/mcp");
        }
    }

    private PolicyFile policy(String effect, String agent) throws Exception {
        Path file = directory.resolve(agent + ".json");
        Files.writeString(file, "{\"rules\":[{\"effect\":\"" + effect + "\",\"agents\":[\"" + agent + "\"]}]}");
        return PolicyFile.read(file);
    }

    @Test
    @DisplayName("callers see the servers that they may call: none if the policy denies them MCP")
    void policyHidesServers() throws Exception {
        Agent[] agents = {agent("echo", "Echoes"), agent("parrot", "Repeats")};
        var required = Authentication.named(List.of("required"));
        try (Hub hub = hub().agents(agents)
                        .authentication(required)
                        .policy(policy("hide", "parrot"))
                        .start();
                Hub without = hub().agents(agents)
                        .authentication(required)
                        .policy(policy("deny", "mcp"))
                        .start()) {
            assertThat(names(get(hub, "/v0.1/servers"))).contains(ECHO).doesNotContain("com.example.hub/agents.parrot");
            assertThat(get(hub, path("com.example.hub/agents.parrot", "latest")).keySet())
                    .hasToString("[error]");
            assertThat(names(get(
                            hub,
                            "/v0.1/servers",
                            "X-Api-Key",
                            hub.bootstrapKey().orElseThrow())))
                    .as("for operators")
                    .contains("com.example.hub/agents.parrot");
            assertThat(names(get(without, "/v0.1/servers"))).isEmpty();
            assertThat(get(without, path(ECHO, "latest")).keySet()).hasToString("[error]");
        }
    }

    @Test
    @DisplayName("a route of the gateway is a server while it exists, and then a deleted one")
    void routesAreServers() throws Exception {
        try (Hub far = hub().agents(agent("far", "Echoes far away")).start();
                Hub hub = hub().set("gateway-allow", "127.0.0.1").start()) {
            var shell = new Shell(directory);
            Ran added = shell.run("gateway", "add", "remote", far.agentUrl("far"), "--url", hub.url());
            assertThat(added.status()).as(added.err()).isZero();

            Map<?, ?> server = get(hub, path("com.example.hub/agents.remote", "latest"));
            Object address = at(server, "server", "remotes", 0, "url");
            assertThat(address).isEqualTo(hub.agentUrl("remote") + "/mcp");
            assertThat(at(toolsOf(address), 0, "name")).isEqualTo("remote__say");

            Ran removed = shell.run("gateway", "remove", "remote", "--url", hub.url());
            assertThat(removed.status()).as(removed.err()).isZero();
            assertThat(names(get(hub, "/v0.1/servers"))).doesNotContain("com.example.hub/agents.remote");
            Map<?, ?> gone = get(hub, "/v0.1/servers?include_deleted=true&search=agents.remote");
            assertThat(at(gone, "servers", 0, "_meta", OFFICIAL, "status")).isEqualTo("deleted");
        }
    }
}
