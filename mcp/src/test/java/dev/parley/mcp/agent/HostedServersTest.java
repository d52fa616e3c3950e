package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.engine.spi.Tools;
import dev.parley.hub.Hub;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MCP servers in processes of their own as agents of a hub, called over the network. */
@Timeout(120)
class HostedServersTest {
    @TempDir
    static Path directory;

    private static Hub hub;
    private static String key;

    private static Map<String, @Nullable Object> server(String era, Path description, int timeout) {
        List<String> command = ScriptedServer.command(era, description.toString());
        return new RawJson()
                .with("command", command.getFirst())
                .with("args", command.subList(1, command.size()))
                .with("env", Map.of("LISTED", "yes"))
                .with("timeout", timeout);
    }

    @BeforeAll
    static void start() throws IOException {
        Path file = directory.resolve("servers.json");
        Map<String, @Nullable Object> servers = new RawJson()
                .with("modern", server("modern", directory.resolve("modern.txt"), 30))
                .with("legacy", server("legacy", directory.resolve("legacy.txt"), 30))
                .with("changing", server("modern", directory.resolve("changing.txt"), 30))
                .with("hasty", server("modern", directory.resolve("hasty.txt"), 1));
        Files.write(file, JsonText.write(Codecs.STRUCT, new RawJson().with("mcpServers", servers)));
        Agent planner = Agent.named("planner", "Uses tools").handle((request, reply) -> {
            Tools tools = request.tools();
            Tools.Description tool = tools.find(request.text()).orElseThrow();
            Tools.Result result = tools.call(tool, Map.of("text", "from an agent"));
            if (result.outcome() == Tools.Outcome.QUESTION) {
                result = tools.answer(tool, result, Map.of("colour", "blue"));
            }
            reply.complete(result.outcome() + " " + result.text());
        });
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("none", "apiKey")))
                .set("mcp-servers", file.toString())
                .agents(planner, Agent.named("librarian", "Finds books").handle(new Librarian()))
                .start();
        key = hub.bootstrapKey().orElseThrow();
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    private static AgentClient agent(String name) {
        return AgentClient.connect(hub.agentUrl(name));
    }

    private static Task call(String server, String tool, Map<String, @Nullable Object> arguments) {
        return send(server, Message.user(Part.data(arguments)), Map.of("skillId", tool));
    }

    private static Task send(String server, Message message, Map<String, @Nullable Object> metadata) {
        var send = new SendMessage(null, message, SendConfiguration.DEFAULTS, metadata);
        return (Task) agent(server).call(send, CallContext.anonymous());
    }

    private static Task proxied(String server, String tool, Map<String, @Nullable Object> arguments) {
        Map<String, @Nullable Object> data = new RawJson()
                .with("target_mcp_server_id", server)
                .with("tool_name", tool)
                .with("arguments", arguments);
        return send(server, Message.user(Part.data(data)), Map.of());
    }

    private static String text(Task task) {
        var texts = new ArrayList<String>();
        Message said = task.status().message();
        if (said != null) {
            texts.add(said.text());
        }
        task.artifacts()
                .forEach(artifact -> artifact.parts().forEach(part -> {
                    if (part instanceof Part.Text text) {
                        texts.add(text.text());
                    }
                }));
        return String.join("\n", texts);
    }

    /** The data parts of the status and of the artifacts. */
    private static List<Map<String, @Nullable Object>> data(Task task) {
        var parts = new ArrayList<Part>();
        task.artifacts().forEach(artifact -> parts.addAll(artifact.parts()));
        Message said = task.status().message();
        if (said != null) {
            parts.addAll(said.parts());
        }
        return parts.stream()
                .filter(Part.Data.class::isInstance)
                .map(part -> Trees.map(((Part.Data) part).data()))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    @DisplayName("ONE23: the tools of a server are skills, which a message calls by skill and data")
    void toolsAreSkills(String server) {
        Task sum = call(server, "add", Map.of("a", 2, "b", 3));

        assertThat(sum.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(data(sum)).containsExactly(Map.of("sum", 5));
        assertThat(agent(server).card().skills()).extracting(Skill::id).contains("echo", "add", "ask");
        assertThat(text(send(server, Message.user(Part.text("hello")), Map.of("skillId", "echo"))))
                .isEqualTo("hello");
    }

    @Test
    @DisplayName("AV26: a task with target_mcp_server_id, tool_name and arguments runs a tool and returns its content")
    void proxyOfAgentVault() {
        Task answered = proxied("modern", "echo", Map.of("text", "hello"));
        Task failed = proxied("modern", "broken", Map.of());
        Task refused = proxied("modern", "invalid", Map.of());
        Task late = proxied("hasty", "silent", Map.of());

        assertThat(answered.state()).isEqualTo(TaskState.COMPLETED);
        Map<String, @Nullable Object> answer = data(answered).getFirst();
        assertThat(answer.get("success")).isEqualTo(true);
        assertThat(Trees.map(answer, "mcp_result").toString()).contains("text=hello");
        assertThat(error(failed)).containsEntry("source", "MCP_TOOL").containsEntry("message", "the tool has failed");
        assertThat(refused.state()).isEqualTo(TaskState.REJECTED);
        assertThat(error(refused)).containsEntry("source", "MCP_PROTOCOL").containsEntry("code", -32602);
        assertThat(late.state()).isEqualTo(TaskState.FAILED);
        assertThat(error(late)).containsEntry("source", "A2A_PROXY").containsEntry("code", "MCP_TIMEOUT");
    }

    private static Map<String, @Nullable Object> error(Task task) {
        Map<String, @Nullable Object> data = data(task).getFirst();
        assertThat(data.get("success")).isEqualTo(false);
        return Trees.map(data, "error");
    }

    @Test
    void aMessageWithoutACallIsRejectedWithWhatIsExpected() {
        Task unclear = send("modern", Message.user(Part.text("hello")), Map.of());
        Task unknown = proxied("modern", "nothing", Map.of());

        assertThat(unclear.state()).isEqualTo(TaskState.REJECTED);
        assertThat(text(unclear)).contains("metadata.skillId").contains("tools: add, ask");
        assertThat(unknown.state()).isEqualTo(TaskState.REJECTED);
        assertThat(text(unknown)).contains("nothing");
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    void aQuestionOfAToolIsAnsweredByTheCallerOfTheTask(String server) {
        Task asked = call(server, "ask", Map.of());
        Task again = answer(server, asked, Part.text("green"));
        Task answered = answer(server, asked, Part.data(Map.of("colour", "red")));

        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(text(asked)).contains("Which colour?");
        assertThat(data(asked).getFirst().toString()).contains("properties").contains("colour");
        assertThat(again.state()).isEqualTo(TaskState.INPUT_REQUIRED);
        assertThat(text(answered)).contains("the user says accept {colour=red}").doesNotContain("without the state");
    }

    private static Task answer(String server, Task task, Part part) {
        return send(server, Message.user(part).in(task.contextId(), task.id()), Map.of());
    }

    @Test
    void textsAnswerQuestionsAndAddressesNeedAuthorization() {
        Task asked = call("modern", "ask", Map.of());
        Task declined = call("modern", "ask", Map.of());
        Task signIn = call("modern", "open", Map.of());

        assertThat(text(answer("modern", asked, Part.text("blue")))).contains("accept {colour=blue}");
        assertThat(text(answer("modern", declined, Part.text("decline")))).contains("the user says decline");
        assertThat(signIn.state()).isEqualTo(TaskState.AUTH_REQUIRED);
        assertThat(text(signIn)).contains("https://example.com/signin");
        assertThat(text(answer("modern", signIn, Part.text("done")))).contains("the user says accept");
    }

    @Test
    @DisplayName(
            "questions that a caller must not see, or that were not offered, fail the task; texts of cards are visible")
    void hostileServer() {
        Task unsafe = call("modern", "unsafe", Map.of());
        Task legacy = call("legacy", "unsafe", Map.of());
        Task sampling = call("modern", "sample", Map.of());

        assertThat(List.of(unsafe.state(), legacy.state(), sampling.state())).containsOnly(TaskState.FAILED);
        assertThat(text(unsafe)).contains("not safe").doesNotContain("javascript");
        assertThat(text(legacy)).contains("not safe").doesNotContain("javascript");
        assertThat(text(sampling)).contains("sampling/createMessage");
        assertThat(agent("modern").card().skills())
                .filteredOn(skill -> skill.id().equals("disguised"))
                .extracting(Skill::description)
                .containsExactly("plain text");
        assertThat(text(call("legacy", "echo", Map.of("text", "next")))).isEqualTo("next");
    }

    @Test
    void tasksOfAServerAreFollowedToTheirEnd() {
        Task job = call("modern", "job", Map.of());

        assertThat(job.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(text(job)).contains("the job is done");
    }

    @Test
    @DisplayName("N2, S122: HOME, LANG, PATH, TMPDIR and the listed variables reach a server, and no others")
    void environmentOfServers() {
        assertThat(text(call("modern", "environment", Map.of())).split(","))
                .contains("LISTED", "PATH")
                .isSubsetOf("HOME", "LANG", "LISTED", "PATH", "TMPDIR");
    }

    @Test
    @DisplayName("a server that ends is started again; a changed definition is held until an operator approves it")
    void changesAreHeld() throws IOException, InterruptedException {
        assertThat(text(call("changing", "echo", Map.of("text", "before")))).isEqualTo("before");
        Files.writeString(directory.resolve("changing.txt"), "Sends all files to somebody");

        Task crashed = call("changing", "crash", Map.of());
        Task held = call("changing", "echo", Map.of("text", "after"));
        String listed = admin("GET", "/mcp/tools");

        assertThat(crashed.state()).isEqualTo(TaskState.FAILED);
        assertThat(text(crashed)).contains("status 7");
        assertThat(held.state()).isEqualTo(TaskState.REJECTED);
        assertThat(text(held)).contains("waits for approval");
        assertThat(listed).contains("\"state\":\"changed\"").contains("Sends all files");
        assertThat(agent("changing").card().skills()).extracting(Skill::id).doesNotContain("echo");
        assertThat(text(call("changing", "add", Map.of()))).contains("sum");

        assertThat(admin("POST", "/mcp/servers/changing/approve")).contains("echo");
        assertThat(text(call("changing", "echo", Map.of("text", "approved")))).isEqualTo("approved");
        assertThat(agent("changing").card().skills()).extracting(Skill::id).contains("echo");
    }

    private static String admin(String method, String path) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + "/admin" + path))
                    .header("Content-Type", "application/json")
                    .header("X-Api-Key", key)
                    .method(method, BodyPublishers.ofByteArray((method.equals("GET") ? "" : "{}").getBytes(UTF_8)))
                    .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"echo", "ask", "broken"})
    void agentsFindAndCallToolsOnBehalfOfTheirCaller(String tool) {
        Task task = send("planner", Message.user(Part.text(tool)), Map.of());

        assertThat(text(task))
                .isEqualTo(
                        switch (tool) {
                            case "echo" -> "COMPLETED from an agent";
                            case "ask" -> "COMPLETED the user says accept {colour=blue}";
                            default -> "FAILED the tool has failed";
                        });
    }

    /** Reads events up to the first status with a text, which is returned. */
    private static String note(TaskStream events) {
        while (events.hasNext()) {
            if (events.next() instanceof TaskStatusUpdateEvent update
                    && update.status().message() != null) {
                return update.status().message().text();
            }
        }
        return "no note";
    }

    @Test
    void theProgressOfAToolThatAnAgentCallsIsThatOfTheAgent() {
        try (TaskStream events = agent("planner").stream("slow")) {
            assertThat(note(events)).startsWith("step ");
        }
    }

    /** Ids of the calls of a server. */
    private static List<String> calls() {
        return agent("modern").tasks(ListTasks.all()).tasks().stream()
                .map(Task::id)
                .toList();
    }

    @Test
    void theEndOfATaskCancelsTheToolThatItsAgentCalls() {
        List<String> before = calls();
        try (TaskStream events = agent("planner").stream("hold")) {
            Task planned = (Task) events.next();
            assertThat(note(events)).isEqualTo("step 1");
            String called = calls().stream()
                    .filter(id -> !before.contains(id)) // calls of other tests may go on
                    .findFirst()
                    .orElseThrow();
            try (TaskStream tool = agent("modern").subscribe(called)) {
                agent("planner").cancel(planned.id());

                TaskEvent last = null;
                while (tool.hasNext()) {
                    last = tool.next();
                }
                assertThat(last)
                        .isInstanceOfSatisfying(
                                TaskStatusUpdateEvent.class,
                                end -> assertThat(end.status().state()).isEqualTo(TaskState.CANCELED));
            }
        }
        assertThat(text(call("modern", "echo", Map.of("text", "next")))).isEqualTo("next");
    }

    @Test
    void theDocumentationShowsTheAgentThatIsTested() throws IOException {
        String source = Files.readString(Path.of("src/test/java/dev/parley/mcp/agent/Librarian.java"));

        assertThat(Files.readString(Path.of("../docs/agents.md")))
                .contains(source.substring(source.indexOf("final class")).strip());
        assertThat(text(send("librarian", Message.user(Part.text("Emma")), Map.of())))
                .isEqualTo("found Emma");
    }

    @Test
    void theEndOfATaskCancelsTheCallOfItsTool() {
        var send = new SendMessage(
                null,
                Message.user(Part.data(Map.of())),
                new SendConfiguration(List.of(), null, null, true),
                Map.of("skillId", "silent"));
        Task begun = (Task) agent("modern").call(send, CallContext.anonymous());

        Task canceled = agent("modern").cancel(begun.id());

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        assertThat(text(call("modern", "echo", Map.of("text", "next")))).isEqualTo("next");
    }
}
