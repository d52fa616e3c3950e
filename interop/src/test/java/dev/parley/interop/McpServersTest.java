package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.dialect.Json;
import dev.parley.interop.Check.Result;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers of MCP, made with the SDKs of others, hosted by {@code parley up --mcp-servers} and called as agents. Skipped and
 * documented as {@link InteropTest}.
 */
@Timeout(240)
final class McpServersTest {
    private static final Map<String, String> RELEASES =
            Map.of("mcp-js", "TypeScript 2.4.0", "mcp-python", "Python 2.3.0", "mcp-java", "Java 2.1.0");

    @TempDir
    private static Path directory;

    private static final List<ForeignServer> SERVERS = new ArrayList<>();
    private static final List<Check> CHECKS = new ArrayList<>();
    private static @Nullable ParleyProgram hub;

    @BeforeAll
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // its calls do not end by an interruption
    static void start() throws IOException {
        SERVERS.clear();
        CHECKS.clear(); // a repetition of the class does not repeat the results of the first run
        var entries = new LinkedHashMap<String, Object>();
        for (ForeignSdk sdk : ForeignSdk.MCP_SDKS) {
            try {
                sdk.install();
            } catch (IOException missing) {
                Requirement.missing(String.valueOf(missing.getMessage()));
            }
            List<String> command = sdk.server();
            entries.put(
                    sdk.name() + "-stdio",
                    Map.of(
                            "command",
                            command.getFirst().startsWith(".")
                                    ? sdk.directory()
                                            .resolve(command.getFirst())
                                            .toAbsolutePath()
                                            .normalize()
                                            .toString()
                                    : command.getFirst(),
                            "args",
                            command.subList(1, command.size()),
                            "cwd",
                            sdk.directory().toAbsolutePath().toString()));
            ForeignServer server = sdk.start("http");
            SERVERS.add(server);
            entries.put(sdk.name() + "-http", Map.of("url", server.url()));
        }
        entries.put(
                "everything",
                Map.of(
                        "command",
                        "node",
                        "args",
                        List.of("node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
                        "cwd",
                        ForeignSdk.MCP_SDKS
                                .getFirst()
                                .directory()
                                .toAbsolutePath()
                                .toString()));
        Path file = directory.resolve("servers.json");
        Files.write(file, Json.write(Map.of("mcpServers", entries)));
        hub = ParleyProgram.start(
                "up", "--port", "0", "--data", directory.resolve("data").toString(), "--mcp-servers", file.toString());
        String url = hub.url();
        entries.keySet().stream()
                .parallel()
                .map(name -> name.equals("everything") ? everything(url) : new Calls(url, name).all())
                .toList()
                .forEach(CHECKS::addAll);
    }

    @AfterAll
    static void stop() {
        if (hub != null) {
            hub.close();
        }
        SERVERS.forEach(ForeignServer::close);
    }

    @TestFactory
    @DisplayName(
            "ONE23 tools of the servers of others are skills of agents; questions, progress, files and cancellation included")
    Stream<DynamicTest> everyServer() {
        return CHECKS.stream()
                .map(check -> dynamicTest(
                        check.column() + ": " + check.operation(),
                        () -> assertThat(check.result()).as(check.detail()).isNotEqualTo(Result.FAILED)));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        Results.assertDocumentedOfMcp("servers of MCP", ResultTable.table(CHECKS));
    }

    /** Calls of one hosted server. */
    private static final class Calls {
        private final String hub;
        private final String server;
        private final AgentClient agent;
        private final List<Check> checks = new ArrayList<>();

        Calls(String hub, String server) {
            this.hub = hub;
            this.server = server;
            this.agent = AgentClient.connect(hub + "/agents/" + server);
        }

        List<Check> all() {
            tell("call by skill and data", this::byData);
            tell("card", this::card);
            tell("call by skill and text", this::byText);
            tell("AV26 call of AgentVault", this::ofAgentVault);
            tell("progress", this::progress);
            tell("question answered", this::question);
            tell("question declined", this::declined);
            tell("failed tool", this::failed);
            tell("unknown tool", this::unknown);
            tell("images, files and links", this::parts);
            if (server.startsWith("mcp-java")) {
                add("cancel", Result.NOT_OFFERED, "its tools do not learn that a call is canceled");
            } else {
                tell("cancel", this::cancel);
            }
            tell("list changed", this::removed);
            agent.close();
            return checks;
        }

        private void tell(String operation, Callable<?> work) {
            try {
                work.call();
                add(operation, Result.PASSED, "");
            } catch (Exception | AssertionError failure) {
                var trace = new StringWriter();
                failure.printStackTrace(new PrintWriter(trace));
                add(operation, Result.FAILED, trace.toString());
            }
        }

        private void add(String operation, Result result, String detail) {
            int end = server.lastIndexOf('-');
            String release = RELEASES.getOrDefault(server.substring(0, Math.max(end, 0)), "server-everything");
            String binding = server.endsWith("-http") ? "HTTP" : "stdio";
            checks.add(new Check(release, "servers", binding, operation, result, detail));
        }

        private Task call(String tool, Map<String, ?> arguments) {
            return send(Message.user(Part.data(arguments)), Map.of("skillId", tool), SendConfiguration.DEFAULTS);
        }

        private Task send(Message message, Map<String, @Nullable Object> metadata, SendConfiguration how) {
            return (Task) agent.call(new SendMessage(null, message, how, metadata), CallContext.anonymous());
        }

        private Task answer(Task task, Part part) {
            return send(Message.user(part).in(task.contextId(), task.id()), Map.of(), SendConfiguration.DEFAULTS);
        }

        private Object byData() {
            Task task = call("say", Map.of("text", "Grüße, 世界 🌍"));
            String revision = server.startsWith("mcp-java")
                    ? "2025-11-25"
                    : server.startsWith("mcp-js") ? "modern" : "2026-07-28";

            assertThat(task.state()).as(text(task)).isEqualTo(TaskState.COMPLETED);
            return assertThat(data(task)).containsEntry("said", "Grüße, 世界 🌍").containsEntry("revision", revision);
        }

        private Object card() {
            return assertThat(agent.refreshCard().skills())
                    .extracting(Skill::id)
                    .contains("say", "count", "order", "fail", "make", "forget");
        }

        private Object byText() {
            Task task = send(Message.user(Part.text("hello")), Map.of("skillId", "say"), SendConfiguration.DEFAULTS);
            return assertThat(data(task)).containsEntry("said", "hello");
        }

        private Object ofAgentVault() {
            Task task = send(proxied("say", Map.of("text", "vault")), Map.of(), SendConfiguration.DEFAULTS);
            return assertThat(data(task)).containsEntry("success", true);
        }

        private Message proxied(String tool, Map<String, ?> arguments) {
            return Message.user(
                    Part.data(Map.of("target_mcp_server_id", server, "tool_name", tool, "arguments", arguments)));
        }

        private Object progress() {
            List<String> events = stream("count", Map.of("to", 3));
            assertThat(events).anySatisfy(event -> assertThat(event).contains("of 3"));
            return assertThat(String.join(" ", events)).contains("counted to 3");
        }

        private List<String> stream(String tool, Map<String, ?> arguments) {
            var events = new ArrayList<String>();
            try (TaskStream stream = agent.stream(proxied(tool, arguments))) {
                stream.forEachRemaining(event -> events.add(event.toString()));
            }
            return events;
        }

        private Object question() {
            Task asked = call("order", Map.of("guests", 2));
            assertThat(asked.state()).as(text(asked)).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(text(asked)).contains("Which table?");
            Task answered = answer(asked, Part.data(Map.of("table", "window", "quiet", true)));
            assertThat(answered.state()).as(text(answered)).isEqualTo(TaskState.COMPLETED);
            return assertThat(text(answered)).contains("window for 2, quiet");
        }

        private Object declined() {
            Task answered = answer(call("order", Map.of("guests", 2)), Part.text("decline"));
            return assertThat(text(answered)).doesNotContain("for 2");
        }

        private Object failed() {
            Task task = call("fail", Map.of());
            assertThat(task.state()).isEqualTo(TaskState.FAILED);
            return assertThat(text(task)).contains("no luck");
        }

        private Object unknown() {
            return assertThat(call("nothing", Map.of()).state()).isEqualTo(TaskState.REJECTED);
        }

        private Object parts() {
            Task task = call("make", Map.of());
            List<Part> parts = task.artifacts().stream()
                    .flatMap(artifact -> artifact.parts().stream())
                    .toList();
            assertThat(parts)
                    .anySatisfy(part -> assertThat(part).isInstanceOfSatisfying(Part.Raw.class, raw -> {
                        assertThat(raw.mediaType()).isEqualTo("image/png");
                        assertThat(raw.raw()).isEqualTo(Base64.getDecoder().decode("iVBORw=="));
                    }));
            assertThat(parts)
                    .anySatisfy(part -> assertThat(part)
                            .isInstanceOfSatisfying(
                                    Part.Raw.class, raw -> assertThat(raw.raw()).isEqualTo(new byte[] {1, 2, 3})));
            return assertThat(text(task)).contains("made", "behind the link");
        }

        private Object cancel() {
            String id;
            try (TaskStream stream = agent.stream(proxied("wait", Map.of()))) {
                id = ((Task) stream.next()).id();
                boolean hasBegun = false;
                while (!hasBegun && stream.hasNext()) {
                    hasBegun = stream.next().toString().contains("begun");
                }
            }
            assertThat(agent.cancel(id).state()).isEqualTo(TaskState.CANCELED);
            return assertThat(text(call("confirm", Map.of()))).contains("canceled");
        }

        /** The server tells that a tool is gone; the hub tells that its card is another. */
        private Object removed() throws Exception {
            Map<String, Object> meta = Map.of(
                    "io.modelcontextprotocol/protocolVersion",
                    "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities",
                    Map.of());
            byte[] listen = Json.write(Map.of(
                    "jsonrpc",
                    "2.0",
                    "id",
                    1,
                    "method",
                    "subscriptions/listen",
                    "params",
                    Map.of("notifications", Map.of("toolsListChanged", true), "_meta", meta)));
            HttpRequest request = HttpRequest.newBuilder(URI.create(hub + "/mcp"))
                    .header("Content-Type", "application/json")
                    .header("Accept", "application/json, text/event-stream")
                    .header("MCP-Protocol-Version", "2026-07-28")
                    .header("Mcp-Method", "subscriptions/listen")
                    .POST(BodyPublishers.ofByteArray(listen))
                    .build();
            HttpClient http = HttpClient.newHttpClient();
            try (Stream<String> lines =
                    http.send(request, BodyHandlers.ofLines()).body()) {
                Iterator<String> events = lines.iterator();
                until(events, "subscriptions/acknowledged");
                assertThat(text(call("forget", Map.of()))).contains("forgotten");
                while (agent.refreshCard().skills().stream()
                        .anyMatch(skill -> skill.id().equals("fail"))) {
                    until(events, "tools/list_changed"); // of any server
                }
            } finally {
                http.shutdownNow();
            }
            return assertThat(call("fail", Map.of()).state()).isEqualTo(TaskState.REJECTED);
        }

        private static void until(Iterator<String> events, String word) {
            while (!events.next().contains(word)) {
                // comments and other events
            }
        }
    }

    /** The reference server, whose tools are its own. */
    private static List<Check> everything(String hub) {
        var calls = new Calls(hub, "everything");
        calls.tell(
                "call by skill and data",
                () -> assertThat(text(calls.call("get-sum", Map.of("a", 2, "b", 3))))
                        .contains("5"));
        calls.tell(
                "card",
                () -> assertThat(calls.agent.refreshCard().skills())
                        .extracting(Skill::id)
                        .contains("echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"));
        calls.tell(
                "call by skill and text",
                () -> assertThat(text(calls.send(
                                Message.user(Part.text("hello")),
                                Map.of("skillId", "echo"),
                                SendConfiguration.DEFAULTS)))
                        .contains("hello"));
        calls.tell(
                "progress",
                () -> assertThat(String.join(
                                " ", calls.stream("trigger-long-running-operation", Map.of("duration", 1, "steps", 2))))
                        .contains("completed"));
        calls.tell("question answered", () -> {
            Task asked = calls.call("trigger-elicitation-request", Map.of());
            assertThat(asked.state()).as(text(asked)).isEqualTo(TaskState.INPUT_REQUIRED);
            return assertThat(text(calls.answer(asked, Part.data(Map.of("name", "Ada")))))
                    .contains("Ada");
        });
        calls.tell(
                "images, files and links",
                () -> assertThat(calls.call("get-tiny-image", Map.of()).artifacts().stream()
                                .flatMap(artifact -> artifact.parts().stream()))
                        .hasAtLeastOneElementOfType(Part.Raw.class));
        calls.agent.close();
        return calls.checks;
    }

    private static String text(Task task) {
        Message said = task.status().message();
        return Stream.concat(
                        said == null ? Stream.of() : said.parts().stream(),
                        task.artifacts().stream().flatMap(artifact -> artifact.parts().stream()))
                .map(part -> switch (part) {
                    case Part.Text text -> text.text();
                    case Part.Data data -> new String(Json.write(data.data()), UTF_8);
                    case Part.Raw raw ->
                        raw.mediaType() != null && raw.mediaType().startsWith("text/")
                                ? new String(raw.raw(), UTF_8)
                                : "";
                    case Part.Url url -> url.url();
                })
                .collect(joining("\n"));
    }

    /** The first data part of the artifacts. */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> data(Task task) {
        return (Map<String, Object>) task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .filter(Part.Data.class::isInstance)
                .map(part -> Objects.requireNonNull(((Part.Data) part).data()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no data: " + text(task)));
    }
}
