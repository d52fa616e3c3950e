package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley mcp serve}. */
@Timeout(120)
final class McpCommandTest {
    private static final String META = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
            + "\"io.modelcontextprotocol/clientCapabilities\":{}}";

    private static Hub hub;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .agents(
                        Agent.named("echo", "Echoes")
                                .skill("say", "Says it again")
                                .handle((request, reply) -> reply.complete("heard " + request.text())),
                        Agent.named("asker", "Asks").skill("order", "Orders").handle((request, reply) -> {
                            if (request.task().isEmpty()) {
                                reply.askForInput("Which size?");
                            } else {
                                reply.complete("ordered " + request.text());
                            }
                        }))
                .inMemory()
                .port(0)
                .drain(Duration.ofMillis(200))
                .start();
    }

    @AfterAll
    static void end() {
        hub.close();
    }

    private static String request(int id, String method, String params) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{" + params
                + (params.isEmpty() ? "" : ",") + META + "}}\n";
    }

    /** Results by the ids of the requests. */
    private static Map<Object, Map<?, ?>> results(Ran ran) {
        var results = new HashMap<Object, Map<?, ?>>();
        ran.out().lines().forEach(line -> {
            Map<?, ?> message = Json.read(line.getBytes(UTF_8), Map.class);
            results.put(((Number) requireNonNull(message.get("id"))).intValue(), message);
        });
        return results;
    }

    private Ran serve(String address, String requests) {
        return new Shell(directory).typing(requests).run("mcp", "serve", "-a", address);
    }

    @Test
    @DisplayName("GEM34: parley mcp serve offers one agent over stdio, in both eras")
    void oneAgent() {
        Ran ran = serve(
                hub.agentUrl("echo"),
                request(1, "tools/list", "")
                        + request(2, "tools/call", "\"name\":\"echo__say\",\"arguments\":{\"message\":\"you\"}"));
        Ran older = serve(hub.agentUrl("echo"), """
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
                {"jsonrpc":"2.0","method":"notifications/initialized"}
                {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo__say","arguments":{"message":"me"}}}
                """);

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(requireNonNull(results(ran).get(1)).toString())
                .contains("echo__say")
                .doesNotContain("asker");
        assertThat(requireNonNull(results(ran).get(2)).toString()).contains("heard you");
        assertThat(requireNonNull(results(older).get(2)).toString()).contains("heard me");
    }

    @Test
    @DisplayName("parley mcp serve offers all agents that a hub lists, with handles for their questions")
    void hub() {
        Ran ran = serve(
                hub.url(),
                request(1, "tools/list", "")
                        + request(2, "tools/call", "\"name\":\"asker__order\",\"arguments\":{\"message\":\"a pizza\"}")
                        + request(3, "resources/read", "\"uri\":\"parley://agents/echo/card\""));

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(requireNonNull(results(ran).get(1)).toString())
                .contains("echo__say", "asker__order", "task_reply")
                .doesNotContain("mcp__");
        assertThat(requireNonNull(results(ran).get(2)).toString()).contains("Which size?", "task_reply");
        assertThat(requireNonNull(results(ran).get(3)).toString()).contains("Echoes");
    }

    @Test
    @DisplayName("parley mcp serve reads the agents of a hub with protected cards by the headers of its settings")
    void protectedHub() {
        String token = "token-of-alice-123456";
        try (Hub secured = Hub.builder()
                .agents(
                        Agent.named("echo", "Echoes")
                                .skill("say", "Says it again")
                                .handle((request, reply) -> reply.complete("heard " + request.text())),
                        Agent.named("other", "Is another")
                                .skill("do", "Does it")
                                .handle((request, reply) -> reply.complete("done")))
                .authentication(Authentication.named(List.of("bearer")))
                .callers(Callers.builder().bearer("alice", token).build())
                .protectCards(true)
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .start()) {
            String call = request(1, "tools/call", "\"name\":\"echo__say\",\"arguments\":{\"message\":\"you\"}");
            Ran ran = new Shell(directory)
                    .typing(call + request(2, "tools/list", ""))
                    .run("mcp", "serve", "-a", secured.url(), "--svc-param", "Authorization:Bearer " + token);
            Ran refused = serve(secured.url(), call);

            assertThat(ran.status()).as(ran.err()).isZero();
            assertThat(requireNonNull(results(ran).get(1)).toString()).contains("heard you");
            assertThat(requireNonNull(results(ran).get(2)).toString()).contains("echo__say", "other__do");
            assertThat(refused.out()).doesNotContain("heard");
        }
    }

    @Test
    @DisplayName(
            "parley mcp serve calls the agents of a hub over TLS with a token, an API key or a stored key, and without none answers")
    void credentials() throws Exception {
        String token = "token-of-alice-123456";
        String key = "key-of-alice-12345678";
        Path chain = directory.resolve("chain.pem");
        Path secret = directory.resolve("key.pem");
        Certificates.selfSigned(chain, secret);
        String requests = request(1, "tools/list", "")
                + request(2, "tools/call", "\"name\":\"echo__say\",\"arguments\":{\"message\":\"you\"}");
        try (Hub secured = Hub.builder()
                .agents(
                        Agent.named("echo", "Echoes")
                                .skill("say", "Says it again")
                                .handle((request, reply) -> reply.complete("heard " + request.text() + " of "
                                        + request.context().caller())),
                        Agent.named("other", "Is another")
                                .skill("do", "Does it")
                                .handle((request, reply) -> reply.complete("done")))
                .authentication(Authentication.named(List.of("apiKey", "bearer")))
                .callers(Callers.builder()
                        .bearer("alice", token)
                        .apiKey("alice", key)
                        .build())
                .tls(chain, secret)
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .start()) {
            String stored =
                    "AGENTVAULT_KEY_LOCALHOST:" + URI.create(secured.url()).getPort();
            var ran = new ArrayList<Ran>();
            for (String[] flags : List.of(new String[] {"--bearer", token}, new String[] {"--api-key", key})) {
                ran.add(secured(new Shell(directory), secured, requests, flags));
            }
            for (var variable : Map.of("A2ACLI_BEARER", token, "A2ACLI_API_KEY", key, stored, key)
                    .entrySet()) {
                ran.add(secured(new Shell(directory).with(variable.getKey(), variable.getValue()), secured, requests));
            }
            Ran anonymous = secured(new Shell(directory), secured, requests);
            Ran unverified = serve(secured.url(), requests);

            assertThat(ran).allSatisfy(each -> {
                assertThat(each.status()).as(each.err()).isZero();
                assertThat(requireNonNull(results(each).get(1)).toString()).contains("echo__say", "other__do");
                assertThat(requireNonNull(results(each).get(2)).toString())
                        .as(each.err())
                        .contains("heard you of alice");
            });
            assertThat(anonymous.out()).contains("echo__say").doesNotContain("heard");
            assertThat(requireNonNull(results(anonymous).get(2)).toString()).contains("error");
            assertThat(unverified.status()).isNotZero();
            assertThat(unverified.err()).contains("TLS");
            assertThat(unverified.out()).isEmpty();
        }
    }

    private static Ran secured(Shell shell, Hub hub, String requests, String... flags) {
        return shell.typing(requests)
                .run(Stream.concat(Stream.of("mcp", "serve", "-a", hub.url(), "--insecure"), Stream.of(flags))
                        .toArray(String[]::new));
    }

    @Test
    @DisplayName("parley mcp serve ends with an error if no agent answers")
    void noAgent() {
        Ran ran = serve("http://127.0.0.1:1", request(1, "tools/list", ""));

        assertThat(ran.status()).isNotZero();
        assertThat(ran.out()).isEmpty();
        assertThat(ran.err()).contains("127.0.0.1:1");
    }
}
