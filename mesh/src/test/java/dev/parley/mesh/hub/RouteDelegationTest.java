package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.mesh.hub.Sink.Callback;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Envelopes for a standard agent of A2A elsewhere, behind a route of the gateway. */
@Timeout(180)
@Tag("heavy")
final class RouteDelegationTest {
    private static final String CARD = "/agents/far/.well-known/agent-card.json";

    @TempDir
    private Path directory;

    private final LinkedBlockingQueue<String> skills = new LinkedBlockingQueue<>();

    /** A hub whose agents know nothing of the mesh. */
    private Hub remote(String dialect) {
        return Hub.builder()
                .data(directory.resolve("remote"))
                .port(0)
                .dialects(List.of(dialect))
                .set("webhook-allow", "127.0.0.1")
                .agents(Agent.named("researcher", "Finds sources")
                        .skill("research", "Research", "facts")
                        .handle((request, reply) -> {
                            skills.add(
                                    String.valueOf(request.message().metadata().get("skillId")));
                            switch (request.text()) {
                                case "fail" -> reply.fail("broken");
                                default -> {
                                    reply.progress(50, "half");
                                    reply.complete(request.text());
                                }
                            }
                        }))
                .start();
    }

    private Hub gateway(Hub remote) {
        return Hub.builder()
                .data(directory.resolve("hub"))
                .port(0)
                .agents(Agent.named("own", "Own").handle((request, reply) -> reply.complete("own")))
                .set("webhook-allow", "127.0.0.1")
                .set("remote", "far=" + remote.agentUrl("researcher"))
                .start();
    }

    private static String delegation(String text, String callback) {
        return "{'task':'research','parameters':{'text':'%s'}%s}"
                .formatted(text, callback.isEmpty() ? "" : ",'callback':'" + callback + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    @DisplayName(
            "M2, ONE22 a delegation to an agent of A2A elsewhere is accepted, answered by callbacks of the hub, and read")
    void delegated(String dialect) throws Exception {
        try (Hub remote = remote(dialect);
                Hub hub = gateway(remote);
                var sink = new Sink(1)) {
            var peer = new Peer(hub.url());
            Eventually.holds(
                    "the card of the route",
                    () -> peer.get(CARD, "A2A-Version", "1.0").status() == 200);

            Answer accepted = peer.send("m-1", "far", "task_delegation", delegation("tides", sink.url()));
            assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
            assertThat(accepted.type()).isEqualTo("task_acceptance");
            assertThat(accepted.text("correlationId")).isEqualTo("c-m-1");
            assertThat(skills.poll(60, TimeUnit.SECONDS)).isEqualTo("research");
            List<Callback> callbacks = sink.until(each ->
                    each.type().equals("task_result") && each.content("status").equals("completed"));
            assertThat(callbacks)
                    .allSatisfy(each ->
                            assertThat(each.envelope().get("correlationId")).isEqualTo("c-m-1"))
                    .allSatisfy(each -> assertThat(each.content("taskId")).isEqualTo(accepted.content("taskId")))
                    .allSatisfy(each -> assertThat(
                                    requireNonNull(each.envelope().get("from")).toString())
                            .contains("agentId=far", hub.agentUrl("far") + "/one"));
            assertThat(callbacks.getLast().content("result").toString()).contains("tides");

            Answer read = peer.get("/agents/far/one/tasks/" + accepted.content("taskId"));
            assertThat(read.type()).as(read.body()).isEqualTo("task_result");
            assertThat(read.text("correlationId")).isEqualTo("c-m-1");
            assertThat(peer.send("m-1", "far", "task_delegation", delegation("tides", sink.url()))
                            .content("taskId"))
                    .as("of the same message again")
                    .isEqualTo(accepted.content("taskId"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    @DisplayName(
            "M2, ONE22 a sender that waits, a query, a failure and a wrong task get the answers that an agent of the hub gives")
    void answered(String dialect) throws Exception {
        try (Hub remote = remote(dialect);
                Hub hub = gateway(remote)) {
            var peer = new Peer(hub.url());
            Eventually.holds(
                    "the card of the route",
                    () -> peer.get(CARD, "A2A-Version", "1.0").status() == 200);

            Answer waited = peer.delegate("w-1", "far", "research", "tides", "Prefer", "wait=30");
            assertThat(waited.type()).as(waited.body()).isEqualTo("task_result");
            assertThat(waited.content("status")).isEqualTo("completed");
            Answer failed = peer.delegate("w-2", "far", "facts", "fail", "Prefer", "wait=30");
            assertThat(failed.content("status")).as(failed.body()).isEqualTo("failed");
            Answer query = peer.send("q-1", "far", "query", "{'query':'moon'}");
            assertThat(query.type()).as(query.body()).isEqualTo("response");
            assertThat(String.valueOf(query.content("result"))).contains("moon");
            Answer mismatch = peer.delegate("w-3", "far", "cooking", "soup");
            assertThat(mismatch.status()).isEqualTo(422);
            assertThat(mismatch.content("code")).isEqualTo("capability_mismatch");
        }
    }

    /** An agent of A2A without webhooks and streams, in a process that may be killed. */
    private static HttpServer raw(int port, String state, AtomicInteger sends) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                String answer;
                if (exchange.getRequestMethod().equals("GET")) {
                    answer = """
                            {"name":"far","description":"Far","version":"1","supportedInterfaces":[{"url":"http://127.0.0.1:%d/rpc",
                             "protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":false},
                             "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
                             "skills":[{"id":"research","name":"Research","description":"Finds","tags":[]}]}""".formatted(server.getAddress().getPort());
                } else {
                    Map<?, ?> request = Json.read(body, Map.class);
                    boolean isSend = "SendMessage".equals(request.get("method"));
                    if (isSend) {
                        sends.incrementAndGet();
                    }
                    String task = "{\"id\":\"t-1\",\"contextId\":\"c-1\",\"status\":{\"state\":\"TASK_STATE_" + state
                            + "\",\"timestamp\":\"2026-01-01T00:00:00Z\"},\"artifacts\":[{\"artifactId\":\"a\",\"parts\":"
                            + "[{\"text\":\"after the cut\"}]}]}";
                    answer = "{\"jsonrpc\":\"2.0\",\"id\":" + new String(Json.write(request.get("id")), UTF_8)
                            + ",\"result\":" + (isSend ? "{\"task\":" + task + "}" : task) + "}";
                }
                exchange.getResponseHeaders().set("Content-Type", "application/json");
                exchange.getResponseHeaders().set("Connection", "close");
                byte[] bytes = answer.getBytes(UTF_8);
                exchange.sendResponseHeaders(200, bytes.length);
                exchange.getResponseBody().write(bytes);
            }
        });
        server.start();
        return server;
    }

    @Test
    @DisplayName(
            "M12 a peer that is killed in the middle of a delegation is told as unavailable, and its result comes once it is back")
    void killedPeer() throws Exception {
        var sends = new AtomicInteger();
        HttpServer killed = raw(0, "WORKING", sends);
        int port = killed.getAddress().getPort();
        HttpServer back = null;
        try (Hub hub = Hub.builder()
                        .data(directory.resolve("hub"))
                        .port(0)
                        .agents(Agent.named("own", "Own").handle((request, reply) -> reply.complete("own")))
                        .set("webhook-allow", "127.0.0.1")
                        .set("gateway-allow", "127.0.0.1")
                        .start();
                var sink = new Sink(1)) {
            var peer = new Peer(hub.url());
            String route = "{'name':'far','url':'http://127.0.0.1:" + port + "','set':['pause=0.2s']}";
            assertThat(peer.post("/admin/gateway/routes", route).status()).isEqualTo(200);
            Eventually.holds(
                    "the card of the route",
                    () -> peer.get(CARD, "A2A-Version", "1.0").status() == 200);
            Answer accepted = peer.send("m-1", "far", "task_delegation", delegation("tides", sink.url()));
            assertThat(accepted.type()).as(accepted.body()).isEqualTo("task_acceptance");

            killed.stop(0);

            Answer read = peer.get("/agents/far/one/tasks/" + accepted.content("taskId"));
            assertThat(read.status()).as(read.body()).isBetween(500, 504);
            Answer another = peer.send("m-2", "far", "task_delegation", delegation("tides", ""));
            assertThat(another.status()).as(another.body()).isBetween(500, 504);
            assertThat(another.content("retryable")).isEqualTo(true);
            back = raw(port, "COMPLETED", sends);
            List<Callback> callbacks = sink.until(each -> each.type().equals("task_result"));
            assertThat(callbacks.getLast().content("result").toString()).contains("after the cut");
            assertThat(sends).as("the task is not begun again").hasValue(1);
        } finally {
            killed.stop(0);
            if (back != null) {
                back.stop(0);
            }
        }
    }
}
