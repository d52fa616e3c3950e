package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PrivacyCommandTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("ONE32 an export has the contents and events of messages of the mesh")
    void messagesOfTheMesh() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x"));
        try (Hub hub = Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .data(directory.resolve("data"))
                .port(0)
                .agents(echo)
                .start()) {
            var shell = new Shell(directory);
            String agent = hub.agentUrl("echo");
            Ran sent = shell.run("one", "send", "-a", agent, "say", "--parameters", "{\"text\": \"curiouser\"}");
            assertThat(sent.status()).as(sent.err()).isZero();

            Ran exported = shell.run("privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());

            assertThat(exported.status()).as(exported.err()).isZero();
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("curiouser", "\"action\":\"one.message\"", "\"messageType\":\"task_delegation\"");
        }
    }

    @Test
    void anExportOfAPersonOrAContextHasTheMemoriesOfAgents() throws Exception {
        try (Hub hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .agents(Agent.named("desk", "Remembers").handle((request, reply) -> {
                    request.memory().orElseThrow().write("heard " + request.text());
                    reply.complete("noted");
                }))
                .start()) {
            var shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("desk"));
            shell.run("send", "of a tea party", "--context-id", "c1");
            shell.run("send", "of a croquet game", "--context-id", "c2");

            Ran all = shell.run("privacy", "export", "all.jsonl", "--subject", "anonymous", "--url", hub.url());
            Ran one = shell.run("privacy", "export", "one.jsonl", "--context", "c1", "--url", hub.url());

            assertThat(all.out()).as(all.err()).contains("Memories: 2");
            assertThat(Files.readString(directory.resolve("all.jsonl")))
                    .contains("{\"memory\":{", "\"text\":\"heard of a tea party\"", "heard of a croquet game");
            assertThat(one.out()).as(one.err()).contains("Memories: 1");
            assertThat(Files.readString(directory.resolve("one.jsonl")))
                    .contains("heard of a tea party")
                    .doesNotContain("croquet");
        }
    }

    @Test
    void whatIsHeldIsSavedAndErased() throws IOException {
        try (Hub hub = Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ofMillis(200))
                .agents(Agent.named("echo", "For a test")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .start()) {
            Shell shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("echo"));
            shell.run("send", "remember me");
            Ran told = shell.run(
                    "kg",
                    "update",
                    "-a",
                    hub.agentUrl("echo"),
                    "add",
                    "ex:p1",
                    "ex:status",
                    "\"told\"",
                    "--source",
                    "me");
            assertThat(told.status()).as(told.err()).isZero();
            Ran asked = shell.run("kg", "query", "-a", hub.agentUrl("echo"), "SELECT ?o { <ex:p1> <ex:status> ?o }");
            assertThat(asked.out()).as(asked.err()).contains("told");

            Ran exported = Eventually.value( // a query is answered before its record is on disk
                    "the record of the query",
                    () -> {
                        Files.deleteIfExists(directory.resolve("mine.jsonl"));
                        return shell.run(
                                "privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());
                    },
                    ran -> ran.out().contains("Questions: 1"));
            assertThat(exported.out()).as(exported.err()).contains("Tasks: 1", "Statements: 0", "Audit-Rows: ");
            assertThat(Files.getPosixFilePermissions(directory.resolve("mine.jsonl")))
                    .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("{\"task\":{", "remember me", "{\"question\":{", "\"action\":\"task.created\"");
            Ran mine = shell.run("privacy", "export", "said.jsonl", "--subject", "me", "--url", hub.url());
            assertThat(mine.out()).as(mine.err()).contains("Statements: 1");
            assertThat(Files.readString(directory.resolve("said.jsonl")))
                    .contains("{\"statement\":{", "\"value\":\"told\"");
            Ran takenBack =
                    shell.run("privacy", "erase", "--yes", "--with-statements", "--subject", "me", "--url", hub.url());
            assertThat(takenBack.out()).as(takenBack.err()).contains("Statements: 1", "Knowledge-Rows: ");

            Ran careless = shell.run("privacy", "erase", "--subject", "anonymous", "--url", hub.url());
            assertThat(careless.status()).isNotZero();
            assertThat(careless.err()).contains("expected: --yes");
            assertThat(shell.run("task", "list").out()).contains("Total-Size: 1");
            Ran erased = shell.run("privacy", "erase", "--yes", "--subject", "anonymous", "--url", hub.url());
            assertThat(erased.out()).as(erased.err()).contains("Tasks: 1");
            assertThat(shell.run("task", "list").out()).contains("Total-Size: 0");
            assertThat(shell.run("privacy", "erase", "--yes", "--url", hub.url())
                            .err())
                    .contains("expected: --subject NAME or --context ID");
        }
    }

    @Test
    @DisplayName(
            "GEM14 entries, versions, reviews and notes of the registry are exported and erased, and peers hear of public ones")
    void entriesOfTheRegistry() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .data(directory.resolve("data"))
                .port(0)
                .agents(echo)
                .start()) {
            var shell = new Shell(directory);
            String ours = "/registry/agents/urn:air:agent.localhost:default:";
            String own = "/registry/agents/urn:air:agent.localhost:agents:echo";
            register(hub, "shown", "public", "quixotic");
            send(hub, "PUT", ours + "shown", "{\"card\":" + card("shown", "quixotic anew") + "}");
            register(hub, "hidden", "private", "quixotic");
            register(hub, "given", "public", "useful");
            send(hub, "POST", ours + "given:transfer", "{\"principal\":\"bob\"}");
            send(hub, "POST", own + ":review", "{\"stars\":4,\"text\":\"quixotic but good\"}");
            send(hub, "POST", own + ":note", "{\"text\":\"quixotic, for us\"}");
            String position = text(send(hub, "GET", "/registry/changes?after=0", ""), "next");

            Ran exported = shell.run("privacy", "export", "mine.jsonl", "--subject", "anonymous", "--url", hub.url());

            assertThat(exported.out()).as(exported.err()).contains("Agent-Versions: 4", "Agent-Reviews: 2");
            assertThat(Files.readString(directory.resolve("mine.jsonl")))
                    .contains("quixotic anew", "quixotic but good", "quixotic, for us", "\"visibility\":\"private\"");

            Ran erased = shell.run("privacy", "erase", "--yes", "--subject", "anonymous", "--url", hub.url());

            assertThat(erased.out()).as(erased.err()).contains("Agents: 2", "Agent-Reviews: 2");
            assertThat(send(hub, "GET", ours + "shown/card", "").statusCode()).isEqualTo(404);
            assertThat(send(hub, "GET", ours + "hidden", "").statusCode()).isEqualTo(404);
            assertThat(text(send(hub, "GET", "/registry/changes?hidden=true&after=" + position, ""), "changes"))
                    .contains("default:shown", "deleted")
                    .doesNotContain("default:hidden", "quixotic");
            assertThat(send(hub, "GET", own + "/reviews", "").body())
                    .contains("\"average\":4", "\"principal\":\"erased-")
                    .doesNotContain("quixotic", "anonymous");
            assertThat(send(hub, "GET", ours + "given/versions", "").body())
                    .contains("\"principal\":\"erased-")
                    .doesNotContain("anonymous");
            assertThat(send(hub, "GET", ours + "given", "").body()).contains("\"owner\":\"bob\"");
            Ran nothing = shell.run("privacy", "export", "none.jsonl", "--subject", "anonymous", "--url", hub.url());
            assertThat(nothing.out()).contains("Agent-Versions: 0", "Agent-Reviews: 0");
            register(hub, "next", "public", "fresh");
            assertThat(text(send(hub, "GET", "/registry/changes?after=" + position, ""), "changes"))
                    .as("a change after those that are erased")
                    .contains("default:next");
        }
        try (Stream<Path> files = Files.walk(directory.resolve("data"))) {
            assertThat(files.filter(Files::isRegularFile))
                    .noneMatch(file -> bytes(file).contains("quixotic"));
        }
    }

    private static String bytes(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static String card(String name, String description) {
        return "{\"name\":\"" + name + "\",\"description\":\"" + description + "\",\"version\":\"1\","
                + "\"supportedInterfaces\":[{\"url\":\"https://a.example\",\"protocolBinding\":\"JSONRPC\","
                + "\"protocolVersion\":\"1.0\"}],\"capabilities\":{},\"defaultInputModes\":[],"
                + "\"defaultOutputModes\":[],\"skills\":[]}";
    }

    private static void register(Hub hub, String name, String visibility, String description) throws Exception {
        HttpResponse<String> answer = send(
                hub,
                "POST",
                "/registry/agents",
                "{\"visibility\":\"" + visibility + "\",\"card\":" + card(name, description) + "}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private static HttpResponse<String> send(Hub hub, String method, String path, String body) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create(hub.url() + path))
                            .header("Content-Type", "application/json")
                            .method(method, HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private static String text(HttpResponse<String> answer, String member) {
        return String.valueOf(Json.read(answer.body().getBytes(StandardCharsets.UTF_8), Map.class)
                .get(member));
    }
}
