package dev.parley.mcp.hub;

import static dev.parley.mcp.hub.RawPeer.FORMS;
import static dev.parley.mcp.hub.RawPeer.PAGES;
import static dev.parley.mcp.hub.RawPeer.TASKS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mcp.hub.RawPeer.Answer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents of a hub as tools, over HTTP. */
@Timeout(120)
final class McpHubTest {
    private static final ToolAgents AGENTS = new ToolAgents();

    private static Hub hub;
    /** A hub whose calls return before their tasks have ended. */
    private static Hub hurried;

    private static RawPeer peer;
    private static RawPeer hasty;

    @BeforeAll
    static void start() {
        String[] examples =
                IntStream.range(0, 120).mapToObj(i -> "Example " + i).toArray(String[]::new);
        hub = started(
                "10m",
                Agent.named("talker", "Has examples")
                        .skill(ToolAgents.skill("talk", "Talks", Map.of(), examples))
                        .handle((request, reply) -> reply.complete("talked")));
        hurried = started("50ms");
        peer = new RawPeer(hub.url() + "/mcp");
        hasty = new RawPeer(hurried.url() + "/mcp");
    }

    private static Hub started(String wait, Agent... more) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .extension(new McpSource())
                .set("mcp-wait", wait)
                .agents(AGENTS.all())
                .agents(more)
                .start();
    }

    @AfterAll
    static void stop() {
        AGENTS.permits.release(1_000);
        hub.close();
        hurried.close();
    }

    private static Map<?, ?> tool(Answer list, String name) {
        return ((List<?>) list.member("tools"))
                .stream()
                        .map(each -> (Map<?, ?>) each)
                        .filter(each -> name.equals(each.get("name")))
                        .findFirst()
                        .orElseThrow();
    }

    private static List<?> names(Answer list) {
        return ((List<?>) list.member("tools"))
                .stream().map(each -> ((Map<?, ?>) each).get("name")).toList();
    }

    @Test
    @DisplayName("GEM34: a client of MCP lists the skills of agents as tools and calls one, in both eras")
    void listsAndCalls() throws Exception {
        var older = new RawPeer(hub.url() + "/mcp");
        Answer list = peer.modern("tools/list", Map.of(), Map.of());
        Answer called = peer.call("echo__say", Map.of("message", "hello"), Map.of());
        older.legacy(
                "initialize",
                Map.of(
                        "protocolVersion",
                        "2025-11-25",
                        "capabilities",
                        Map.of(),
                        "clientInfo",
                        Map.of("name", "t", "version", "1")));
        Answer olderCalled =
                older.legacy("tools/call", Map.of("name", "echo__say", "arguments", Map.of("message", "hi")));

        assertThat(names(list).toString())
                .contains("echo__say", "echo__shout", "asker__order", "task_result")
                .doesNotContain("mcp__");
        assertThat(tool(list, "echo__say").get("description")).isEqualTo("Says it again\nAgent: echo");
        assertThat(called.text()).isEqualTo("hello by say");
        assertThat(called.structured().get("state")).isEqualTo("completed");
        assertThat(olderCalled.text()).isEqualTo("hi by say");
        assertThat(names(older.legacy("tools/list", Map.of()))).isEqualTo(names(list));
    }

    @Test
    @DisplayName("an agent without a task answers with its message")
    void directAnswer() throws Exception {
        Answer answer = peer.call("direct__answer", Map.of("message", "?"), Map.of());

        assertThat(answer.text()).isEqualTo("at once");
        assertThat(answer.result().get("isError")).isNull();
    }

    @Test
    @DisplayName("one agent has its own address, without the tools of others")
    void ofOneAgent() throws Exception {
        var one = new RawPeer(hub.url() + "/agents/echo/mcp");

        assertThat(names(one.modern("tools/list", Map.of(), Map.of())))
                .asString()
                .contains("echo__say")
                .doesNotContain("asker");
        assertThat(one.call("echo__shout", Map.of("message", "x"), Map.of()).text())
                .isEqualTo("x by shout");
        assertThat(one.call("asker__order", Map.of("message", "x"), Map.of()).code())
                .isEqualTo(-32602);
        assertThat(new RawPeer(hub.url() + "/agents/none/mcp")
                        .modern("tools/list", Map.of(), Map.of())
                        .http()
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    @DisplayName("questions of an agent are elicitations, by rounds that may be repeated")
    void questions() throws Exception {
        int before = AGENTS.answers.get();
        Map<String, Object> order = Map.of("name", "asker__order", "arguments", Map.of("message", "a pizza"));
        Answer first = peer.modern("tools/call", order, FORMS);
        Answer second = answered(order, first, Map.of("answer", "large"));
        Answer repeated = answered(order, first, Map.of("answer", "large"));
        Answer third = answered(order, second, Map.of("topping", "olives"));
        Answer again = answered(order, second, Map.of("topping", "olives"));

        assertThat(question(first).get("message")).isEqualTo("Which size?");
        assertThat(question(first).get("requestedSchema")).asString().contains("answer");
        assertThat(question(second).get("message")).isEqualTo("Which topping?");
        assertThat(question(second).get("requestedSchema")).asString().contains("topping");
        assertThat(question(repeated)).isEqualTo(question(second));
        assertThat(third.text()).isEqualTo("ordered: {topping=olives}");
        assertThat(again.structured()).isEqualTo(third.structured());
        assertThat(AGENTS.answers.get() - before).isEqualTo(1);
    }

    private static Map<?, ?> question(Answer answer) {
        assertThat(answer.result().get("resultType")).isEqualTo("input_required");
        Map<?, ?> requests = (Map<?, ?>) answer.member("inputRequests");
        return (Map<?, ?>)
                requireNonNull(((Map<?, ?>) requests.values().iterator().next()).get("params"));
    }

    private static Answer answered(Map<String, Object> params, Answer asked, Map<String, Object> content)
            throws Exception {
        return answered(params, asked, "accept", content);
    }

    private static Answer answered(Map<String, Object> params, Answer asked, String action, Map<String, Object> content)
            throws Exception {
        Map<?, ?> requests = (Map<?, ?>) asked.member("inputRequests");
        return peer.modern(
                "tools/call",
                Map.of(
                        "name",
                        params.get("name"),
                        "arguments",
                        params.get("arguments"),
                        "requestState",
                        asked.result().get("requestState"),
                        "inputResponses",
                        Map.of(requests.keySet().iterator().next(), Map.of("action", action, "content", content))),
                PAGES);
    }

    @Test
    @DisplayName("declining the question of an agent cancels its task, cancelling it leaves the task waiting")
    void declines() throws Exception {
        Map<String, Object> order = Map.of("name", "asker__order", "arguments", Map.of("message", "a pizza"));
        Answer declined = answered(order, peer.modern("tools/call", order, FORMS), "decline", Map.of());
        Answer canceled = answered(order, peer.modern("tools/call", order, FORMS), "cancel", Map.of());

        assertThat(declined.result().get("isError")).isEqualTo(true);
        assertThat(declined.text()).isEqualTo("The task ended as canceled");
        assertThat(canceled.structured().get("state")).isEqualTo("input-required");
    }

    @Test
    @DisplayName("a client that cannot ask gets the question and a handle, and replies by a tool")
    void withoutElicitation() throws Exception {
        Answer asked = peer.call("asker__order", Map.of("message", "a pizza"), Map.of());
        Object taskId = asked.structured().get("taskId");
        Answer second = peer.call("task_reply", Map.of("taskId", taskId, "message", "small"), Map.of());
        Answer done = peer.call("task_reply", Map.of("taskId", taskId, "data", Map.of("topping", "ham")), Map.of());

        assertThat(asked.text()).startsWith("Which size?\nCall task_reply");
        assertThat(second.text()).startsWith("Which topping?");
        assertThat(done.text()).isEqualTo("ordered: {topping=ham}");
    }

    /** Waits until the agent works on a text. */
    private static void begun(String text) throws InterruptedException {
        assertThat(ToolAgents.latch(AGENTS.begun, text).await(20, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    @DisplayName("a client without tasks gets a handle after the wait, and the result by a tool")
    void handle() throws Exception {
        Answer begun = hasty.call("slow__work", Map.of("message", "handle"), Map.of());
        Object taskId = begun.structured().get("taskId");
        begun("handle");
        Answer status = hasty.call("task_status", Map.of("taskId", taskId), Map.of());
        AGENTS.permits.release();
        hasty.awaitEnd(hurried.agentUrl("slow"), String.valueOf(taskId));
        Answer result = hasty.call("task_result", Map.of("taskId", taskId), Map.of());

        assertThat(begun.structured().get("state")).isIn("submitted", "working");
        assertThat(begun.text()).contains("Call task_result");
        assertThat(status.structured().get("state")).isEqualTo("working");
        assertThat(status.structured().get("message")).isEqualTo("begun");
        assertThat(result.text()).isEqualTo("worked: handle");
    }

    @Test
    @DisplayName(
            "a client that declares the tasks extension in a session gets a handle, as tasks/get needs the newer revision")
    void handleOfASession() throws Exception {
        var older = new RawPeer(hurried.url() + "/mcp");
        older.legacy(
                "initialize",
                Map.of(
                        "protocolVersion",
                        "2025-11-25",
                        "capabilities",
                        TASKS,
                        "clientInfo",
                        Map.of("name", "t", "version", "1")));
        Answer begun =
                older.legacy("tools/call", Map.of("name", "slow__work", "arguments", Map.of("message", "session")));
        AGENTS.permits.release();
        hasty.awaitEnd(
                hurried.agentUrl("slow"), String.valueOf(begun.structured().get("taskId")));
        Answer result = older.legacy(
                "tools/call",
                Map.of(
                        "name",
                        "task_result",
                        "arguments",
                        Map.of("taskId", begun.structured().get("taskId"))));

        assertThat(begun.result().get("resultType")).isNull();
        assertThat(begun.structured().get("state")).isIn("submitted", "working");
        assertThat(result.text()).isEqualTo("worked: session");
    }

    @Test
    @DisplayName("a client with tasks gets one with the id of A2A, its result, and cancels another")
    void tasks() throws Exception {
        Answer begun = hasty.call("slow__work", Map.of("message", "tasks"), TASKS);
        String taskId = String.valueOf(begun.result().get("taskId"));
        Answer working = hasty.modern("tasks/get", Map.of("taskId", taskId), TASKS);
        AGENTS.permits.release();
        hasty.awaitEnd(hurried.agentUrl("slow"), String.valueOf(taskId));
        Answer done = hasty.modern("tasks/get", Map.of("taskId", taskId), TASKS);
        Object other = hasty.call("slow__work", Map.of("message", "cancel me"), TASKS)
                .result()
                .get("taskId");
        Answer canceling = hasty.modern("tasks/cancel", Map.of("taskId", other), TASKS);
        Answer canceled = hasty.modern("tasks/get", Map.of("taskId", other), TASKS);

        assertThat(begun.result().get("resultType")).isEqualTo("task");
        assertThat(working.result().get("status")).isEqualTo("working");
        assertThat(done.result().get("status")).isEqualTo("completed");
        assertThat(done.result().get("result")).asString().contains("worked: tasks");
        assertThat(canceling.result().get("resultType")).isEqualTo("complete");
        assertThat(canceled.result().get("status")).isEqualTo("cancelled");
        assertThat(peer.modern("tasks/get", Map.of("taskId", "none"), TASKS).code())
                .isEqualTo(-32602);
    }

    @Test
    @DisplayName("a question within a task is answered by tasks/update")
    void updates() throws Exception {
        Object taskId = peer.call("asker__order", Map.of("message", "a pizza"), Map.of())
                .structured()
                .get("taskId");
        Answer asked = peer.modern("tasks/get", Map.of("taskId", taskId), TASKS);
        Object key =
                ((Map<?, ?>) asked.member("inputRequests")).keySet().iterator().next();
        Answer updated = peer.modern(
                "tasks/update",
                Map.of(
                        "taskId",
                        taskId,
                        "inputResponses",
                        Map.of(key, Map.of("action", "accept", "content", Map.of("answer", "large")))),
                TASKS);
        Answer next = peer.call("task_result", Map.of("taskId", taskId), Map.of());

        assertThat(asked.result().get("status")).isEqualTo("input_required");
        assertThat(updated.result().get("resultType")).isEqualTo("complete");
        assertThat(next.text()).startsWith("Which topping?");
    }

    @Test
    @DisplayName("a client that closes its stream cancels the task, whose progress it has seen")
    void leaving() throws Exception {
        HttpRequest request = peer.request(
                        "tools/call",
                        Map.of(
                                "name",
                                "slow__work",
                                "arguments",
                                Map.of("message", "leaving"),
                                "_meta",
                                Map.of("progressToken", "p")),
                        Map.of())
                .build();
        HttpResponse<java.io.InputStream> stream = peer.http.send(request, BodyHandlers.ofInputStream());
        begun("leaving");
        var lines = new BufferedReader(new InputStreamReader(stream.body(), UTF_8));
        String progress = lines.lines()
                .filter(line -> line.startsWith("data: "))
                .findFirst()
                .orElseThrow();
        stream.body().close();

        assertThat(progress).contains("notifications/progress", "begun");
        assertThat(ToolAgents.latch(AGENTS.interrupted, "leaving").await(20, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    @DisplayName("files are images, sounds, embedded or linked resources, and artifacts are read as resources")
    void files() throws Exception {
        Answer made = peer.call("files__make", Map.of("size", 3), Map.of());
        List<?> content = (List<?>) made.member("content");
        String uri = String.valueOf(((Map<?, ?>) content.get(3)).get("uri"));
        Answer read = peer.modern("resources/read", Map.of("uri", uri), Map.of());

        assertThat(content.stream().map(each -> ((Map<?, ?>) each).get("type")).toList())
                .asString()
                .isEqualTo("[image, audio, resource, resource_link, resource_link, text]");
        assertThat(made.structured().get("data")).asString().isEqualTo("{got={size=3}}");
        assertThat(read.result().get("contents")).asString().contains("mimeType=application/x");
        assertThat(peer.modern("resources/read", Map.of("uri", uri.replace("large", "x")), Map.of())
                        .code())
                .isEqualTo(-32602);
        assertThat(tool(peer.modern("tools/list", Map.of(), Map.of()), "files__make")
                        .toString())
                .contains("readOnlyHint=true", "size", "openWorldHint=true")
                .doesNotContain("invented");
    }

    @Test
    @DisplayName("cards are resources, examples are prompts, and both complete")
    void resourcesAndPrompts() throws Exception {
        Answer card = peer.modern("resources/read", Map.of("uri", "parley://agents/echo/card"), Map.of());
        Answer prompts = peer.modern("prompts/list", Map.of(), Map.of());
        Answer prompt = peer.modern("prompts/get", Map.of("name", "echo__say", "arguments", Map.of()), Map.of());
        Answer completion = peer.modern(
                "completion/complete",
                Map.of(
                        "ref",
                        Map.of("type", "ref/prompt", "name", "echo__say"),
                        "argument",
                        Map.of("name", "message", "value", "good")),
                Map.of());

        assertThat(peer.modern("resources/list", Map.of(), Map.of()).result().toString())
                .contains("parley://agents/asker/card");
        assertThat(peer.modern("resources/templates/list", Map.of(), Map.of())
                        .result()
                        .toString())
                .contains("/artifacts/{artifact}");
        assertThat(card.result().toString()).contains("\"name\":\"echo\"");
        assertThat(prompts.result().toString()).contains("echo__say").doesNotContain("shout");
        assertThat(prompt.result().toString()).contains("hello");
        assertThat(completion.result().toString()).contains("[good evening]");
    }

    private static Answer completed(Map<String, String> reference, String argument, String value) throws Exception {
        return peer.modern(
                "completion/complete",
                Map.of("ref", reference, "argument", Map.of("name", argument, "value", value)),
                Map.of());
    }

    @Test
    @DisplayName("completion gives at most 100 values and says how many there are, of prompts and templates that exist")
    void completions() throws Exception {
        Map<String, String> talk = Map.of("type", "ref/prompt", "name", "talker__talk");
        Map<String, String> card = Map.of("type", "ref/resource", "uri", "parley://agents/{agent}/card");
        Map<?, ?> all = (Map<?, ?>) completed(talk, "message", "EX").member("completion");

        assertThat((List<?>) all.get("values")).hasSize(100);
        assertThat(String.valueOf(all.get("values"))).startsWith("[Example 0, Example 1, ");
        assertThat(all.get("total")).hasToString("120");
        assertThat(all.get("hasMore")).isEqualTo(true);
        assertThat(completed(talk, "message", "example 11").result().toString())
                .contains("[Example 11, Example 110", "total=11", "hasMore=false");
        assertThat(completed(talk, "other", "").result().toString()).contains("values=[]", "total=0");
        assertThat(completed(card, "agent", "E").result().toString()).contains("values=[echo]");
        for (Map<String, String> wrong : List.of(
                Map.of("type", "ref/prompt", "name", "none__x"),
                Map.of("type", "ref/prompt", "name", "echo__shout"),
                Map.of("type", "ref/prompt"),
                Map.of("type", "ref/resource", "uri", "file:///{agent}"),
                Map.of("type", "ref/resource"),
                Map.of("type", "ref/other", "name", "echo__say"),
                Map.of("name", "echo__say"))) {
            assertThat(completed(wrong, "message", "").code())
                    .as(wrong.toString())
                    .isEqualTo(-32602);
        }
        for (Map<String, ?> wrong : List.<Map<String, ?>>of(
                Map.of("ref", talk),
                Map.of("ref", talk, "argument", Map.of("name", "message")),
                Map.of("ref", talk, "argument", Map.of("name", "message", "value", 1)),
                Map.of("ref", talk, "argument", "message"),
                Map.of("argument", Map.of("name", "message", "value", "")))) {
            assertThat(peer.modern("completion/complete", wrong, Map.of()).code())
                    .as(wrong.toString())
                    .isEqualTo(-32602);
        }
    }

    @Test
    @DisplayName("arguments of prompts are texts of known names, and skills without examples are no prompts")
    void argumentsOfPrompts() throws Exception {
        Map<String, Object> say = Map.of("name", "echo__say");
        Answer given = peer.modern(
                "prompts/get", Map.of("name", "echo__say", "arguments", Map.of("message", "mine")), Map.of());

        assertThat(given.member("messages").toString())
                .isEqualTo("[{role=user, content={type=text, text=Call the tool echo__say with this message: mine}}]");
        assertThat(peer.modern("prompts/get", say, Map.of()).member("messages").toString())
                .contains("message: hello");
        for (Object wrong : List.of(Map.of("message", 5), Map.of("other", "x"), List.of("x"), "x")) {
            assertThat(peer.modern("prompts/get", Map.of("name", "echo__say", "arguments", wrong), Map.of())
                            .code())
                    .as(wrong.toString())
                    .isEqualTo(-32602);
        }
        for (String none : List.of("echo__shout", "none__x", "task_status", "")) {
            assertThat(peer.modern("prompts/get", Map.of("name", none), Map.of())
                            .code())
                    .as(none)
                    .isEqualTo(-32602);
        }
        assertThat(peer.modern("prompts/get", Map.of(), Map.of()).code()).isEqualTo(-32602);
    }

    @Test
    @DisplayName("failures are results of tools, unknown names are errors, and faults of agents show nothing of them")
    void failures() throws Exception {
        Answer failed = peer.call("failing__fail", Map.of("message", "x"), Map.of());
        Answer bug = peer.call("failing__fail", Map.of("message", "bug"), Map.of());
        Answer invalid = peer.call("echo__say", Map.of("text", "x"), Map.of());

        assertThat(failed.result().get("isError")).isEqualTo(true);
        assertThat(failed.text()).isEqualTo("no luck");
        assertThat(bug.last().toString()).doesNotContain("secret");
        assertThat(invalid.result().get("isError")).isEqualTo(true);
        assertThat(invalid.text()).contains("message: missing");
        assertThat(peer.call("none__x", Map.of(), Map.of()).code()).isEqualTo(-32602);
        assertThat(peer.call("task_status", Map.of("taskId", "x"), Map.of()).code())
                .isEqualTo(-32602);
    }

    @Test
    @DisplayName("a task that requires a credential gets it by a page, not by a form")
    void credentials() throws Exception {
        Map<String, Object> open = Map.of("name", "vault__open", "arguments", Map.of("message", "open"));
        Answer asked = peer.modern("tools/call", open, PAGES);
        String page = String.valueOf(question(asked).get("url"));
        Map<String, String> given = new java.util.HashMap<>();
        for (String pair : URI.create(page).getFragment().split("&", -1)) {
            given.put(pair.split("=", 2)[0], pair.split("=", 2)[1]);
        }
        HttpResponse<String> html =
                peer.http.send(HttpRequest.newBuilder(URI.create(page)).build(), BodyHandlers.ofString());
        HttpResponse<String> posted = peer.http.send(
                HttpRequest.newBuilder(URI.create(hub.url() + "/mcp/credentials"))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{\"agent\":\"" + given.get("agent") + "\",\"taskId\":\""
                                + given.get("task") + "\",\"credential\":\"12345\"}"))
                        .build(),
                BodyHandlers.ofString());
        Answer done = answered(open, asked, Map.of());

        assertThat(question(asked).get("mode")).isEqualTo("url");
        assertThat(html.body()).contains("credential.js");
        assertThat(posted.statusCode()).as(posted.body()).isEqualTo(200);
        assertThat(done.text()).isEqualTo("opened with 5 characters");
        assertThat(peer.call("vault__open", Map.of("message", "x"), FORMS).text())
                .contains("The credential is handed over at");
    }

    @Test
    @DisplayName("arguments that do not fit the schema are refused with their path, before the agent is called")
    void schemas() throws Exception {
        var june = new RawPeer(hub.url() + "/mcp", "MCP-Protocol-Version", "2025-06-18");
        Map<String, Object> files = Map.of("name", "files__make", "arguments", Map.of("size", "big"));
        Answer typed = peer.modern("tools/call", files, Map.of());
        Answer nested = peer.call("echo__say", Map.of("message", "x", "files", List.of(Map.of("uri", 1))), Map.of());

        assertThat(typed.result().get("isError")).isEqualTo(true);
        assertThat(typed.text()).isEqualTo("size: wrong type (expected: integer)");
        assertThat(nested.text()).isEqualTo("files[0].uri: wrong type (expected: string)");
        assertThat(june.plain("tools/call", files).code()).isEqualTo(-32602);
    }

    @Test
    @DisplayName("100 calls at once each get their own answer")
    void concurrentCalls() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<String>> calls = IntStream.range(0, 100)
                    .<Callable<String>>mapToObj(i -> () -> peer.call("echo__say", Map.of("message", "m" + i), Map.of())
                            .text())
                    .toList();
            var texts = new ArrayList<String>();
            for (Future<String> each : threads.invokeAll(calls)) {
                texts.add(each.get());
            }

            assertThat(texts)
                    .isEqualTo(IntStream.range(0, 100)
                            .mapToObj(i -> "m" + i + " by say")
                            .toList());
        }
    }

    @Test
    @DisplayName("calls are SendMessage of the agent in the metrics")
    void measured() throws Exception {
        peer.call("echo__say", Map.of("message", "x"), Map.of());
        String metrics = peer.http
                .send(HttpRequest.newBuilder(URI.create(hub.url() + "/metrics")).build(), BodyHandlers.ofString())
                .body();

        assertThat(metrics)
                .contains("operation=\"mcp/tools/call\"")
                .containsPattern("agent=\"echo\"[^\\n]*operation=\"SendMessage\"");
    }
}
