package dev.parley.mcp.hub;

import static dev.parley.mcp.hub.RawPeer.TASKS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.mcp.hub.RawPeer.Answer;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents behind routes of the gateway, and agents without streams, as tools with a wait that is longer than each test. */
@Timeout(60)
final class McpRoutesTest {
    private static final String ALICE = "token-of-alice-123456";
    private static final String BOB = "token-of-bob-12345678";
    private static final String OPERATOR = "token-of-operator-1234";

    private static final ToolAgents REMOTE = new ToolAgents();
    private static final ToolAgents LOCAL = new ToolAgents();

    private static Hub remote;
    private static Hub hub;
    private static RawPeer alice;
    private static RawPeer bob;

    @BeforeAll
    static void start() throws Exception {
        remote = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .agents(REMOTE.all())
                .start();
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .set("mcp-wait", "10m")
                .set("gateway-allow", "localhost")
                .authentication(Authentication.named(List.of("bearer")))
                .callers(Callers.builder()
                        .bearer("alice", ALICE)
                        .bearer("bob", BOB)
                        .bearer("operator", OPERATOR)
                        .scopes("operator", List.of("admin", "metrics"))
                        .build())
                .agents(LOCAL.all())
                .start();
        alice = new RawPeer(hub.url() + "/mcp", "Authorization", "Bearer " + ALICE);
        bob = new RawPeer(hub.url() + "/mcp", "Authorization", "Bearer " + BOB);
        for (String agent : List.of("asker", "mute", "files", "slow")) {
            add("far-" + agent, agent);
        }
    }

    @AfterAll
    static void stop() {
        hub.close();
        remote.close();
    }

    private static void add(String route, String agent) throws Exception {
        operate("POST", "", Json.write(Map.of("name", route, "url", remote.agentUrl(agent))));
    }

    private static void operate(String method, String path, byte[] body) throws Exception {
        HttpResponse<String> answer = alice.http.send(
                HttpRequest.newBuilder(URI.create(hub.adminUrl() + "/admin/gateway/routes" + path))
                        .header("Content-Type", "application/json")
                        .header("Authorization", "Bearer " + OPERATOR)
                        .method(method, BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    /** Calls a tool whose agent works until it gets a permit. */
    private static Answer worked(String tool, String text, ToolAgents agents) throws Exception {
        CountDownLatch begun = ToolAgents.latch(agents.begun, text);
        var call = new FutureTask<>(() -> alice.call(tool, Map.of("message", text), Map.of()));
        Thread.ofVirtual().start(call);
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        agents.permits.release();
        return call.get(20, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("the task of an agent without streams is awaited in the log of the hub, and read once at most")
    void withoutStreams() throws Exception {
        double before = reads();
        Answer answer = worked("mute__work", "silence", LOCAL);

        assertThat(answer.text()).isEqualTo("worked: silence");
        assertThat(reads() - before)
                .as("none if the task ends before the hub waits for it")
                .isBetween(0.0, 1.0);
    }

    /** Number of reads of tasks of the agent without streams. */
    private static double reads() throws Exception {
        String metrics = alice.http
                .send(
                        HttpRequest.newBuilder(URI.create(hub.url() + "/metrics"))
                                .header("Authorization", "Bearer " + OPERATOR)
                                .build(),
                        BodyHandlers.ofString())
                .body();
        return metrics.lines()
                .filter(line -> line.startsWith("parley_request_duration_seconds_count{agent=\"mute\""))
                .filter(line -> line.contains("\"GetTask\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    @DisplayName("tasks of routes are awaited, with and without streams of the remote agent")
    void awaitsRoutes() throws Exception {
        assertThat(worked("far-mute__work", "far silence", REMOTE).text()).isEqualTo("worked: far silence");
        assertThat(worked("far-slow__work", "far noise", REMOTE).text()).isEqualTo("worked: far noise");
    }

    @Test
    @DisplayName("subscriptions to tasks tell their end, of agents with and without streams, here and behind routes")
    void followsTasks() throws Exception {
        for (String agent : List.of("mute", "far-mute", "far-slow")) {
            String id = alice.begin(hub.agentUrl(agent), "follow " + agent);
            try (BufferedReader own = follow(alice, id);
                    BufferedReader other = follow(bob, id)) {
                assertThat(next(own, "subscriptions/acknowledged")).as(agent).contains("\"taskIds\":[\"" + id + "\"]");
                assertThat(next(other, "subscriptions/acknowledged")).as(agent).contains("\"taskIds\":[]");
                (agent.startsWith("far") ? REMOTE : LOCAL).permits.release();
                String told = next(own, "tasks\"");
                while (told.contains("\"status\":\"working\"")) {
                    told = next(own, "tasks\"");
                }

                assertThat(told).as(agent).contains("\"status\":\"completed\"", "worked: follow " + agent, id);
            }
        }
    }

    private static BufferedReader follow(RawPeer peer, String taskId) throws Exception {
        Map<String, Object> wanted = Map.of("notifications", Map.of("taskIds", List.of(taskId)));
        return lines(peer.http.send(
                peer.request("subscriptions/listen", wanted, TASKS).build(), BodyHandlers.ofInputStream()));
    }

    @Test
    @DisplayName("tasks and artifacts of routes are found by their owner only, by methods and tools")
    void tasksOfRoutes() throws Exception {
        Object id = alice.call("far-asker__order", Map.of("message", "a pizza"), Map.of())
                .structured()
                .get("taskId");
        Map<String, Object> task = Map.of("taskId", id);
        Answer files = alice.call("far-files__make", Map.of("size", 1), Map.of());
        Map<String, Object> uri = Map.of("uri", ((Map<?, ?>) ((List<?>) files.member("content")).get(3)).get("uri"));

        assertThat(alice.modern("tasks/get", task, TASKS).result().get("status"))
                .isEqualTo("input_required");
        assertThat(alice.call("task_status", task, Map.of()).structured().get("state"))
                .isEqualTo("input-required");
        assertThat(alice.modern("resources/read", uri, Map.of())
                        .member("contents")
                        .toString())
                .contains("mimeType=application/x");
        for (String method : List.of("tasks/get", "tasks/cancel")) {
            assertThat(bob.modern(method, task, TASKS).code()).as(method).isEqualTo(-32602);
        }
        for (String tool : List.of("task_status", "task_result", "task_cancel")) {
            assertThat(bob.call(tool, task, Map.of()).code()).as(tool).isEqualTo(-32602);
        }
        assertThat(bob.modern("resources/read", uri, Map.of()).code()).isEqualTo(-32602);
        assertThat(alice.call("task_reply", Map.of("taskId", id, "message", "small"), Map.of())
                        .text())
                .startsWith("Which topping?");
        assertThat(alice.modern("tasks/cancel", task, TASKS).result().get("resultType"))
                .isEqualTo("complete");
        assertThat(alice.modern("tasks/get", task, TASKS).result().get("status"))
                .isEqualTo("cancelled");
    }

    @Test
    @DisplayName("subscriptions and streams of sessions tell when an agent is hosted, and when it is removed")
    void changes() throws Exception {
        alice.legacy(
                "initialize",
                Map.of(
                        "protocolVersion",
                        "2025-11-25",
                        "capabilities",
                        Map.of(),
                        "clientInfo",
                        Map.of("name", "t", "version", "1")));
        try (BufferedReader modern = lines(alice.listen(false));
                BufferedReader legacy = lines(alice.listen(true))) {
            String acknowledged = next(modern, "subscriptions/acknowledged");
            add("passing", "echo");
            next(modern, "tools/list_changed");
            next(legacy, "tools/list_changed");
            assertThat(tools()).contains("passing__say");
            next(legacy, "resources/list_changed");
            operate("DELETE", "/passing", new byte[0]);
            String changed = next(modern, "tools/list_changed");
            next(legacy, "tools/list_changed");

            assertThat(acknowledged).contains("\"toolsListChanged\":true");
            assertThat(changed).contains("subscriptionId");
            assertThat(tools()).doesNotContain("passing__say");
        }
    }

    private static String tools() throws Exception {
        return alice.modern("tools/list", Map.of(), Map.of()).member("tools").toString();
    }

    private static BufferedReader lines(HttpResponse<InputStream> stream) {
        assertThat(stream.statusCode()).isEqualTo(200);
        return new BufferedReader(new InputStreamReader(stream.body(), UTF_8));
    }

    private static String next(BufferedReader lines, String method) throws Exception {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data: ") && line.contains("notifications/" + method)) {
                return line;
            }
        }
        throw new AssertionError("the stream has ended before " + method);
    }
}
