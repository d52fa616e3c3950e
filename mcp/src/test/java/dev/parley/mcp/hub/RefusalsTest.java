package dev.parley.mcp.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.spi.Tools;
import dev.parley.hub.Hub;
import dev.parley.mcp.CallResult;
import dev.parley.mcp.Content;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.client.Forms;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.OlderFront;
import dev.parley.mcp.client.PinnedClient;
import dev.parley.mcp.client.Progress;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.hub.RawPeer.Answer;
import dev.parley.mcp.server.FixtureHub;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Revision;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.testkit.Eventually;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A person's answer to a question reaches the server that asked as it was given. */
@Timeout(120)
@Tag("heavy")
final class RefusalsTest {
    private static final List<String> SERVERS = List.of("stdio-new", "stdio-old", "http-new", "http-old");

    private static final Queue<Message> RECEIVED = new ConcurrentLinkedQueue<>();

    @TempDir
    static Path directory;

    private static HttpClient http;
    private static final Map<String, McpClient> CLIENTS = new LinkedHashMap<>();
    private static Hub fixture;
    private static OlderFront older;
    private static Hub hub;

    @BeforeAll
    static void start() throws Exception {
        http = HttpClient.newHttpClient();
        fixture = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .extension(new FixtureHub(new Forms()))
                .start();
        older = new OlderFront(fixture.url() + FixtureHub.PATH);
        Map<String, Object> servers = Map.of(
                "stdio-new", program("modern"),
                "stdio-old", program("legacy"),
                "http-new", Map.of("url", fixture.url() + FixtureHub.PATH),
                "http-old", Map.of("url", older.url()));
        Path file = directory.resolve("servers.json");
        Files.write(file, JsonText.write(Codecs.STRUCT, new RawJson().with("mcpServers", servers)));
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .extension(new McpSource())
                .set("mcp-servers", file.toString())
                .set("mcp-wait", "10m")
                .agents(
                        Agent.named("asker", "Asks for a colour")
                                .skill("ask", "Asks")
                                .handle((request, reply) -> {
                                    RECEIVED.add(request.message());
                                    if (request.isFollowUp()) {
                                        reply.complete("accepted");
                                    } else {
                                        reply.askForInput(Message.agent(
                                                Part.text("Which colour?"),
                                                Part.data(Map.of(
                                                        "type",
                                                        "object",
                                                        "properties",
                                                        Map.of("colour", Map.of("type", "string"))))));
                                    }
                                }),
                        Agent.named("decliner", "Declines for its caller").handle((request, reply) -> {
                            Tools.Description tool = request.tools().list().stream()
                                    .filter(each -> each.server().equals(request.text())
                                            && each.name().equals("form"))
                                    .findFirst()
                                    .orElseThrow();
                            Tools.Result asked = request.tools().call(tool, Map.of("text", "action"));
                            reply.complete(request.tools().decline(tool, asked).text());
                        }))
                .start();
    }

    private static Map<String, Object> program(String era) {
        List<String> command = ScriptedServer.command(era);
        return Map.of("command", command.getFirst(), "args", command.subList(1, command.size()));
    }

    @AfterAll
    static void stop() {
        CLIENTS.values().forEach(McpClient::close);
        hub.close();
        older.close();
        fixture.close();
        http.shutdownNow();
    }

    /** A client that is reached over a transport and in an era. */
    private static McpClient client(String kind) throws InterruptedException {
        McpClient known = CLIENTS.get(kind);
        if (known != null) {
            return known;
        }
        Revision revision = kind.endsWith("new") ? Revision.V2026_07_28 : Revision.V2025_11_25;
        var agents = new ArrayList<String>();
        SERVERS.forEach(server -> agents.addAll(List.of(server, hub.agentUrl(server))));
        McpClient client = kind.startsWith("http")
                ? PinnedClient.http(hub.url() + "/mcp", http, revision)
                : PinnedClient.stdio(ScriptedServer.command(StdioOffer.class, agents.toArray(String[]::new)), revision);
        CLIENTS.put(kind, client);
        return client;
    }

    /** Calls a tool of a server through the hub, and answers its questions, of which there is one round. */
    private static String called(McpClient client, String tool, String kind, Map<String, InputResponse> answers)
            throws InterruptedException {
        return called(client, tool, Map.of("text", kind), answers);
    }

    private static String called(
            McpClient client, String tool, Map<String, @Nullable Object> arguments, Map<String, InputResponse> answers)
            throws InterruptedException {
        Outcome<CallResult> outcome = client.call(
                new Invocation(tool, arguments, Map.of(), null, Map.of()), Duration.ofSeconds(30), Progress.NONE);
        if (!(outcome instanceof Outcome.Questions<CallResult>(var questions, var state))) {
            throw new AssertionError("no question: " + outcome);
        }
        var given = new LinkedHashMap<String, InputResponse>();
        var left = new ArrayList<>(answers.values());
        questions.keySet().forEach(key -> given.put(key, left.removeFirst()));
        Outcome<CallResult> end = client.call(
                new Invocation(tool, arguments, given, state, Map.of()), Duration.ofSeconds(30), Progress.NONE);
        if (!(end instanceof Outcome.Complete<CallResult>(var result))) {
            throw new AssertionError("asked again: " + end);
        }
        return result.content().stream()
                .map(content -> content instanceof Content.Text text ? text.text() : "")
                .collect(Collectors.joining("|"));
    }

    private static InputResponse answer(String action, @Nullable Object content) {
        return new InputResponse(action, content, Map.of());
    }

    static Stream<Arguments> ways() {
        return Stream.of("http-new", "http-old", "stdio-new", "stdio-old")
                .flatMap(client -> SERVERS.stream().map(server -> arguments(client, server)));
    }

    @ParameterizedTest(name = "client {0}, server {1}")
    @MethodSource("ways")
    @DisplayName(
            "GEM34, ONE23, K1, S123: decline, cancel and accept of an MCP client reach the server as such, asked once, for each form")
    void ofClients(String clientKind, String server) throws Exception {
        McpClient client = client(clientKind);
        for (String kind : Forms.ALL) {
            for (String action : List.of("decline", "cancel")) {
                for (Object content : new Object[] {null, Forms.content(kind), Map.of()}) {
                    assertThat(called(client, server + "__form", kind, Map.of("q", answer(action, content))))
                            .as(kind + " " + action)
                            .isEqualTo("the user says " + action + " null");
                }
            }
            Map<String, @Nullable Object> content = Forms.content(kind);
            String accepted = called(client, server + "__form", kind, Map.of("q", answer("accept", content)));
            assertThat(accepted)
                    .as(kind)
                    .isEqualTo("the user says accept "
                            + switch (kind) {
                                case "url" -> "null";
                                case "optional" -> "{colour=green}";
                                default -> content.toString();
                            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stdio-new", "http-new", "http-old"})
    @DisplayName("K1: two questions of one call keep their own answers")
    void severalQuestions(String server) throws Exception {
        var answers = new LinkedHashMap<String, InputResponse>();
        answers.put("1", answer("decline", null));
        answers.put("2", answer("accept", Map.of("value", false)));

        if (!server.equals("http-old")) { // whose questions come one after the other
            assertThat(called(client("http-new"), server + "__forms", "", answers))
                    .isEqualTo("the user says decline null accept {value=false}");
        }
        if (server.equals("stdio-new")) {
            Task asked = send(server, Message.user(Part.data(Map.of())), "forms");
            Task half = reply(server, asked, Part.data(Map.of("second", Map.of("action", "cancel"))));
            Task wrong = reply(server, half, Part.data(Map.of("value", 7)));
            Task whole = reply(server, wrong, Part.data(Map.of("value", "Ada")));
            Task both = reply(server, send(server, Message.user(Part.data(Map.of())), "forms"), Part.text("Decline."));

            assertThat(List.of(asked.state(), half.state(), wrong.state())).containsOnly(TaskState.INPUT_REQUIRED);
            assertThat(text(half)).contains("May I? string").doesNotContain("boolean");
            assertThat(text(whole)).isEqualTo("the user says accept {value=Ada} cancel null");
            assertThat(text(both)).isEqualTo("the user says decline null decline null");
        }
    }

    private static Task send(String agent, Message message, @Nullable String skill) {
        Map<String, @Nullable Object> metadata = new RawJson().with("skillId", skill);
        var send = new SendMessage(null, message, SendConfiguration.DEFAULTS, metadata);
        return (Task) AgentClient.connect(hub.agentUrl(agent)).call(send, CallContext.anonymous());
    }

    private static Task reply(String agent, Task task, Part... parts) {
        return send(agent, Message.user(parts).in(task.contextId(), task.id()), null);
    }

    private static Task asked(String server, String kind) {
        Task asked = send(server, Message.user(Part.data(Map.of("text", kind))), "form");
        assertThat(asked.state()).isIn(TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED);
        return asked;
    }

    private static String text(Task task) {
        Message said = task.status().message();
        return Stream.concat(
                        said == null ? Stream.of() : said.parts().stream(),
                        task.artifacts().stream().flatMap(artifact -> artifact.parts().stream()))
                .filter(Part.Text.class::isInstance)
                .map(part -> ((Part.Text) part).text())
                .collect(Collectors.joining("|"));
    }

    /** Messages that refuse, with the action. */
    private static List<Map.Entry<String, Part[]>> refusals() {
        return List.of(
                Map.entry("decline", new Part[] {Part.text("decline")}),
                Map.entry("cancel", new Part[] {Part.text(" Cancel ")}),
                Map.entry("decline", new Part[] {Part.text("Declined.")}),
                Map.entry("decline", new Part[] {Part.data(Map.of("action", "decline"))}),
                Map.entry("cancel", new Part[] {Part.data(Map.of("action", "CANCEL"))}),
                Map.entry("cancel", new Part[] {Part.data(Map.of("elicitation", Map.of("action", "cancel")))}),
                Map.entry("decline", new Part[] {Part.text("decline"), Part.data(Map.of("value", "Ada"))}));
    }

    /** Messages that answer nothing. */
    private static List<Part[]> strays() {
        return List.of(
                new Part[] {Part.text("  ")},
                new Part[] {Part.data(Map.of("declined", true))},
                new Part[] {Part.data(Map.of("action", 7))},
                new Part[] {Part.data(Map.of("action", "perhaps"))},
                new Part[] {Part.data(Map.of("action", "accept", "other", 1))},
                new Part[] {Part.data(List.of("decline"))},
                new Part[] {Part.data(Map.of()), Part.data(Map.of())},
                new Part[] {Part.data(Map.of("elicitation", Map.of("other", Map.of("action", "accept"))))},
                new Part[] {Part.file("a.txt", "text/plain", new byte[] {65})});
    }

    @ParameterizedTest
    @ValueSource(strings = {"stdio-new", "stdio-old", "http-new", "http-old"})
    @DisplayName("K1, S123: an A2A caller declines or cancels each form by text or data; other messages never accept")
    void ofCallers(String server) {
        for (String kind : Forms.ALL) {
            for (var refusal : refusals()) {
                Task task = reply(server, asked(server, kind), refusal.getValue());
                assertThat(text(task)).as(kind).isEqualTo("the user says " + refusal.getKey() + " null");
            }
            Task task = asked(server, kind);
            for (Part[] stray : strays()) {
                task = reply(server, task, stray);
                assertThat(task.state())
                        .as(kind + " " + List.of(stray) + text(task))
                        .isIn(TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED);
            }
            task = reply(server, task, Part.data(Map.of("action", "decline")));
            assertThat(text(task)).as(kind).isEqualTo("the user says decline null");
        }
    }

    @Test
    @DisplayName("K1: texts and data of A2A callers accept what they name, and no more")
    void acceptedByCallers() {
        Map<String, String> texts = Map.of(
                "string", "Ada", "number", "1.5", "integer", "3", "boolean", "no", "enum", "red", "multi", "blue");
        texts.forEach((kind, text) -> assertThat(text(reply("stdio-new", asked("stdio-new", kind), Part.text(text))))
                .as(kind)
                .startsWith("the user says accept {value="));
        for (String wrong : List.of("green", "NaN", "1d")) {
            for (String kind : List.of("number", "integer", "boolean", "enum", "titled", "multi", "empty", "url")) {
                Task task = reply("stdio-new", asked("stdio-new", kind), Part.text(wrong));
                assertThat(task.state()).as(kind + " " + wrong).isIn(TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED);
            }
        }

        assertThat(text(reply("stdio-new", asked("stdio-new", "empty"), Part.text("yes"))))
                .isEqualTo("the user says accept {}");
        assertThat(text(reply("stdio-new", asked("stdio-new", "url"), Part.data(Map.of("action", "accept")))))
                .isEqualTo("the user says accept null");
        assertThat(text(reply("stdio-new", asked("stdio-new", "action"), Part.data(Map.of("action", "decline")))))
                .isEqualTo("the user says decline null");
        assertThat(text(reply("stdio-new", asked("stdio-new", "action"), Part.data(Map.of("action", "paint")))))
                .isEqualTo("the user says accept {action=paint}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"stdio-new", "stdio-old", "http-new", "http-old"})
    @DisplayName("K1: an agent that uses a tool declines its question for its caller")
    void byAgents(String server) {
        assertThat(text(send("decliner", Message.user(Part.text(server)), null)))
                .isEqualTo("the user says decline null");
    }

    @Test
    @DisplayName("K1: a canceled task gives its question up, so that the next one of the server is asked")
    void canceledTasks() {
        Task first = asked("stdio-old", "string");
        AgentClient.connect(hub.agentUrl("stdio-old")).call(CancelTask.of(first.id()), CallContext.anonymous());
        Task next = Eventually.value(
                "the next question",
                () -> send("stdio-old", Message.user(Part.data(Map.of("text", "string"))), "form"),
                task -> task.state() == TaskState.INPUT_REQUIRED);

        assertThat(text(reply("stdio-old", next, Part.text("Ada")))).isEqualTo("the user says accept {value=Ada}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http-new", "http-old"})
    @DisplayName("K1: an agent that knows no refusals gets no message for one: declined, its task is canceled")
    void agentsWithoutRefusals(String kind) throws Exception {
        RECEIVED.clear();
        String declined =
                called(client(kind), "asker__ask", Map.of("message", "ask me"), Map.of("q", answer("decline", null)));
        String canceled =
                called(client(kind), "asker__ask", Map.of("message", "ask me"), Map.of("q", answer("cancel", null)));

        assertThat(declined).contains("canceled");
        assertThat(canceled).contains("The question is open").contains("input-required");
        assertThat(RECEIVED).hasSize(2).allMatch(message -> message.text().equals("ask me"));
    }

    @Test
    @DisplayName(
            "K1: tasks/update and task_reply decline; an unknown action and content that does not fit change nothing")
    void ofTasks() throws Exception {
        var peer = new RawPeer(hub.url() + "/mcp");
        for (String server : List.of("stdio-new", "http-new")) {
            Object first = handle(peer, server, "boolean");
            Answer asked = peer.modern("tasks/get", Map.of("taskId", first), RawPeer.TASKS);
            Object key = ((Map<?, ?>) asked.member("inputRequests"))
                    .keySet()
                    .iterator()
                    .next();
            Answer unknown = update(peer, first, key, Map.of("action", "declined"));
            update(peer, first, key, Map.of("action", "accept", "content", Map.of("value", "maybe")));
            Answer still = peer.modern("tasks/get", Map.of("taskId", first), RawPeer.TASKS);
            update(peer, first, key, Map.of("action", "decline"));
            Answer declined = peer.call("task_result", Map.of("taskId", first), Map.of());
            Answer replied = peer.call(
                    "task_reply", Map.of("taskId", handle(peer, server, "string"), "action", "cancel"), Map.of());

            assertThat(unknown.code()).isEqualTo(-32602);
            assertThat(still.result().get("status")).isEqualTo("input_required");
            assertThat(declined.text()).isEqualTo("the user says decline null");
            assertThat(replied.text()).isEqualTo("the user says cancel null");
        }
    }

    /** Id of a task that asks a client which cannot ask its user. */
    private static Object handle(RawPeer peer, String server, String kind) throws Exception {
        return requireNonNull(peer.call(server + "__form", Map.of("text", kind), Map.of())
                .structured()
                .get("taskId"));
    }

    private static Answer update(RawPeer peer, Object task, Object key, Map<String, Object> answer) throws Exception {
        return peer.modern(
                "tasks/update", Map.of("taskId", task, "inputResponses", Map.of(key, answer)), RawPeer.TASKS);
    }
}
