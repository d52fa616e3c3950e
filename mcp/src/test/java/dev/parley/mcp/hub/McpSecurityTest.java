package dev.parley.mcp.hub;

import static dev.parley.mcp.hub.RawPeer.FORMS;
import static dev.parley.mcp.hub.RawPeer.TASKS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.mcp.hub.RawPeer.Answer;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Callers of tools, their rights, and tasks after a restart of the hub. */
@Timeout(120)
final class McpSecurityTest {
    private static final String ALICE = "token-of-alice-123456";
    private static final String BOB = "token-of-bob-12345678";

    private static final String OPERATOR = "token-of-operator-1234";

    @TempDir
    private static Path directory;

    private static Hub hub;
    private static RawPeer alice;
    private static RawPeer bob;

    @BeforeAll
    static void start() throws Exception {
        Path policy = directory.resolve("policy.json");
        Files.writeString(policy, """
                {"rules": [
                  {"effect": "hide", "principals": ["bob"], "agents": ["direct"]},
                  {"effect": "deny", "principals": ["bob"], "agents": ["echo"], "operations": ["SendMessage"]}]}""");
        hub = secured(Hub.builder().inMemory(), "10m", new ToolAgents())
                .policy(PolicyFile.read(policy))
                .authentication("inner", Authentication.named(List.of("apiKey")))
                .agents(
                        Agent.named("inner", "Has other credentials")
                                .handle((request, reply) -> reply.complete("inner")),
                        Agent.named("scoped", "Requires a scope")
                                .skill(ToolAgents.skill("write", "Writes", Map.of())
                                        .withScopes("books:write"))
                                .handle((request, reply) -> reply.complete("written")))
                .start();
        alice = new RawPeer(hub.url() + "/mcp", "Authorization", "Bearer " + ALICE);
        bob = new RawPeer(hub.url() + "/mcp", "Authorization", "Bearer " + BOB);
    }

    private static HubBuilder secured(HubBuilder hub, String wait, ToolAgents agents) {
        return hub.port(0)
                .drain(Duration.ofMillis(50))
                .extension(new McpSource())
                .set("mcp-wait", wait)
                .authentication(Authentication.named(List.of("bearer")))
                .auditCalls(true)
                .callers(Callers.builder()
                        .bearer("alice", ALICE)
                        .scopes("alice", List.of("books:write"))
                        .bearer("bob", BOB)
                        .bearer("operator", OPERATOR)
                        .scopes("operator", List.of("admin"))
                        .build())
                .agents(agents.all());
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    private static String tools(RawPeer peer) throws Exception {
        return peer.modern("tools/list", Map.of(), Map.of()).member("tools").toString();
    }

    private static String challenge(Answer answer) {
        return answer.http().headers().firstValue("WWW-Authenticate").orElse("");
    }

    @Test
    @DisplayName("a call without credentials is told the metadata of the address, which names it as the resource")
    void challenges() throws Exception {
        Answer refused = new RawPeer(hub.url() + "/mcp").modern("tools/list", Map.of(), Map.of());
        Answer ofAgent = new RawPeer(hub.url() + "/agents/echo/mcp").modern("tools/list", Map.of(), Map.of());
        String metadata = alice.http
                .send(
                        HttpRequest.newBuilder(
                                        URI.create(hub.url() + "/.well-known/oauth-protected-resource/agents/echo/mcp"))
                                .build(),
                        BodyHandlers.ofString())
                .body();

        assertThat(refused.http().statusCode()).isEqualTo(401);
        assertThat(challenge(refused))
                .contains("resource_metadata=\"" + hub.url() + "/.well-known/oauth-protected-resource/mcp\"");
        assertThat(challenge(ofAgent)).contains("/.well-known/oauth-protected-resource/agents/echo/mcp\"");
        assertThat(metadata).contains("\"resource\":\"" + hub.url() + "/agents/echo/mcp\"");
    }

    @Test
    @DisplayName("tools are those that the caller may call, and others are refused as at the agent")
    void filtered() throws Exception {
        Answer scoped = bob.call("scoped__write", Map.of("message", "x"), Map.of());

        assertThat(tools(alice))
                .contains("echo__say", "direct__answer", "scoped__write")
                .doesNotContain("inner");
        assertThat(tools(bob)).contains("asker__order").doesNotContain("echo__say", "direct__answer", "scoped__write");
        assertThat(scoped.http().statusCode()).isEqualTo(403);
        assertThat(challenge(scoped))
                .contains("error=\"insufficient_scope\"", "scope=\"books:write\"", "resource_metadata=");
        assertThat(bob.call("echo__say", Map.of("message", "x"), Map.of())
                        .http()
                        .statusCode())
                .isEqualTo(403);
        assertThat(bob.call("direct__answer", Map.of("message", "x"), Map.of()).code())
                .isEqualTo(-32602);
        assertThat(alice.call("inner__message", Map.of("message", "x"), Map.of())
                        .code())
                .isEqualTo(-32602);
        assertThat(alice.call("scoped__write", Map.of("message", "x"), Map.of()).text())
                .isEqualTo("written");
    }

    @Test
    @DisplayName("tasks, artifacts, questions and credentials of other callers are unknown")
    void owners() throws Exception {
        Map<String, Object> order = Map.of("name", "asker__order", "arguments", Map.of("message", "a pizza"));
        Object taskId = alice.call("asker__order", Map.of("message", "x"), Map.of())
                .structured()
                .get("taskId");
        Answer asked = alice.modern("tools/call", order, FORMS);
        Answer files = alice.call("files__make", Map.of("size", 1), Map.of());
        Object uri = ((Map<?, ?>) ((List<?>) files.member("content")).get(3)).get("uri");
        Answer stolen = bob.modern(
                "tools/call",
                Map.of(
                        "name",
                        "asker__order",
                        "arguments",
                        order.get("arguments"),
                        "requestState",
                        asked.result().get("requestState")),
                FORMS);
        int credential = alice.http
                .send(
                        HttpRequest.newBuilder(URI.create(hub.url() + "/mcp/credentials"))
                                .header("Content-Type", "application/json")
                                .header("Authorization", "Bearer " + BOB)
                                .POST(BodyPublishers.ofString(
                                        "{\"agent\":\"asker\",\"taskId\":\"" + taskId + "\",\"credential\":\"x\"}"))
                                .build(),
                        BodyHandlers.ofString())
                .statusCode();

        assertThat(alice.modern("tasks/get", Map.of("taskId", taskId), TASKS)
                        .result()
                        .get("taskId"))
                .isEqualTo(taskId);
        for (String method : List.of("tasks/get", "tasks/cancel")) {
            assertThat(bob.modern(method, Map.of("taskId", taskId), TASKS).code())
                    .as(method)
                    .isEqualTo(-32602);
        }
        for (String tool : List.of("task_status", "task_result", "task_cancel")) {
            assertThat(bob.call(tool, Map.of("taskId", taskId), Map.of()).code())
                    .as(tool)
                    .isEqualTo(-32602);
        }
        assertThat(bob.call("task_reply", Map.of("taskId", taskId, "message", "x"), Map.of())
                        .code())
                .isEqualTo(-32602);
        assertThat(bob.modern("resources/read", Map.of("uri", uri), Map.of()).code())
                .isEqualTo(-32602);
        assertThat(stolen.code()).isEqualTo(-32602);
        assertThat(credential).isEqualTo(404);
    }

    /** Repeats a call with the state and an answer of another one. */
    private static Answer repeated(RawPeer peer, String method, String name, Map<String, ?> arguments, Answer asked)
            throws Exception {
        return repeated(peer, method, name, arguments, asked, String.valueOf(asked.member("requestState")));
    }

    private static Answer repeated(
            RawPeer peer, String method, String name, Map<String, ?> arguments, Answer asked, String state)
            throws Exception {
        Object key =
                ((Map<?, ?>) asked.member("inputRequests")).keySet().iterator().next();
        return peer.modern(
                method,
                Map.of(
                        "name",
                        name,
                        "arguments",
                        arguments,
                        "requestState",
                        state,
                        "inputResponses",
                        Map.of(key, Map.of("action", "accept", "content", Map.of("answer", "large")))),
                FORMS);
    }

    @Test
    @DisplayName(
            "a requestState is refused for another tool, agent, task, caller, method or text, and stays valid for its own call")
    void states() throws Exception {
        Map<String, Object> order = Map.of("message", "a pizza");
        Answer asked = alice.call("asker__order", order, FORMS);
        Object first = alice.call("asker__order", order, Map.of()).structured().get("taskId");
        Object second = alice.call("asker__order", order, Map.of()).structured().get("taskId");
        Answer ofTask = alice.call("task_result", Map.of("taskId", first), FORMS);
        var ofEcho = new RawPeer(hub.url() + "/agents/echo/mcp", "Authorization", "Bearer " + ALICE);
        var ofAsker = new RawPeer(hub.url() + "/agents/asker/mcp", "Authorization", "Bearer " + ALICE);
        String state = String.valueOf(asked.member("requestState"));
        Map<String, Answer> refused = Map.of(
                "another tool", repeated(alice, "tools/call", "scoped__write", order, asked),
                "another agent", repeated(alice, "tools/call", "echo__say", order, asked),
                "the address of another agent", repeated(ofEcho, "tools/call", "asker__order", order, asked),
                "other arguments", repeated(alice, "tools/call", "asker__order", Map.of("message", "two"), asked),
                "another task", repeated(alice, "tools/call", "task_result", Map.of("taskId", second), ofTask),
                "another caller", repeated(bob, "tools/call", "asker__order", order, asked),
                "another method", repeated(alice, "prompts/get", "asker__order", order, asked),
                "a changed text", repeated(alice, "tools/call", "asker__order", order, asked, changed(state)),
                "a short text", repeated(alice, "tools/call", "asker__order", order, asked, "x"));

        refused.forEach((how, answer) -> {
            assertThat(answer.code()).as(how).isEqualTo(-32602);
            assertThat(answer.last().toString())
                    .as(how)
                    .contains(
                            how.startsWith("the address")
                                    ? "not found"
                                    : "requestState: changed, expired, or of another");
        });
        assertThat(alice.modern(
                                "tools/call",
                                Map.of("name", "asker__order", "arguments", order, "requestState", 5),
                                FORMS)
                        .code())
                .isEqualTo(-32602);
        assertThat(alice.call("task_status", Map.of("taskId", second), Map.of()).text())
                .contains("Which size?");
        assertThat(repeated(ofAsker, "tools/call", "asker__order", order, asked)
                        .member("inputRequests")
                        .toString())
                .contains("Which topping?");
        assertThat(repeated(alice, "tools/call", "task_result", Map.of("taskId", first), ofTask)
                        .member("inputRequests")
                        .toString())
                .contains("Which topping?");
    }

    private static String changed(String state) {
        char middle = state.charAt(state.length() / 2);
        return state.substring(0, state.length() / 2)
                + (middle == 'A' ? 'B' : 'A')
                + state.substring(state.length() / 2 + 1);
    }

    @Test
    @DisplayName(
            "prompts and their completion are those of skills that the caller may call, and hidden agents complete nothing")
    void prompts() throws Exception {
        Map<String, Object> example = Map.of(
                "ref",
                Map.of("type", "ref/prompt", "name", "echo__say"),
                "argument",
                Map.of("name", "message", "value", ""));
        Map<String, Object> agents = Map.of(
                "ref",
                Map.of("type", "ref/resource", "uri", "parley://agents/{agent}/card"),
                "argument",
                Map.of("name", "agent", "value", ""));

        assertThat(alice.modern("prompts/list", Map.of(), Map.of())
                        .member("prompts")
                        .toString())
                .contains("echo__say");
        assertThat(bob.modern("prompts/list", Map.of(), Map.of())
                        .member("prompts")
                        .toString())
                .doesNotContain("echo__say");
        assertThat(alice.modern("completion/complete", example, Map.of())
                        .result()
                        .toString())
                .contains("good evening");
        assertThat(bob.modern("completion/complete", example, Map.of()).code()).isEqualTo(-32602);
        assertThat(bob.modern("prompts/get", Map.of("name", "echo__say"), Map.of())
                        .code())
                .isEqualTo(-32602);
        assertThat(alice.modern("completion/complete", agents, Map.of())
                        .result()
                        .toString())
                .contains("direct", "echo")
                .doesNotContain("inner");
        assertThat(bob.modern("completion/complete", agents, Map.of()).result().toString())
                .contains("echo")
                .doesNotContain("direct", "inner");
    }

    @Test
    @DisplayName("a call of a tool is a SendMessage of its agent in the audit")
    void audited() throws Exception {
        alice.call("direct__answer", Map.of("message", "x"), Map.of());
        String rows = alice.http
                .send(
                        HttpRequest.newBuilder(URI.create(hub.url() + "/admin/audit?actor=alice"))
                                .header("Authorization", "Bearer " + OPERATOR)
                                .build(),
                        BodyHandlers.ofString())
                .body();

        assertThat(rows).contains("call.answered", "SendMessage", "alice");
    }

    @Test
    @DisplayName("after a restart in the middle of a task the client goes on with it, and with its question")
    void restart() throws Exception {
        var agents = new ToolAgents();
        Map<String, Object> order = Map.of("name", "asker__order", "arguments", Map.of("message", "a pizza"));
        Object working;
        Answer asked;
        Path data = directory.resolve("data");
        try (Hub first = secured(Hub.builder().data(data), "2s", agents).start()) {
            var peer = new RawPeer(first.url() + "/mcp", "Authorization", "Bearer " + ALICE);
            working = peer.call("slow__work", Map.of("message", "restart"), TASKS)
                    .result()
                    .get("taskId");
            asked = peer.modern("tools/call", order, FORMS);
        }
        agents.permits.release();
        try (Hub second = secured(Hub.builder().data(data), "10m", agents).start()) {
            var peer = new RawPeer(second.url() + "/mcp", "Authorization", "Bearer " + ALICE);
            peer.call("task_result", Map.of("taskId", working), Map.of());
            Answer done = peer.modern("tasks/get", Map.of("taskId", working), TASKS);
            Object key = ((Map<?, ?>) asked.member("inputRequests"))
                    .keySet()
                    .iterator()
                    .next();
            Answer next = peer.modern(
                    "tools/call",
                    Map.of(
                            "name",
                            "asker__order",
                            "arguments",
                            order.get("arguments"),
                            "requestState",
                            asked.result().get("requestState"),
                            "inputResponses",
                            Map.of(key, Map.of("action", "accept", "content", Map.of("answer", "large")))),
                    FORMS);

            assertThat(done.result().get("status")).isEqualTo("completed");
            assertThat(done.member("result").toString()).contains("worked: restart");
            assertThat(next.member("inputRequests").toString()).contains("Which topping?");
        }
    }
}
