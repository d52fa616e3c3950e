package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley up --remote} and {@code parley gateway …}, before the agent of another hub. */
@Timeout(120)
@Tag("heavy")
final class GatewayCommandTest {
    private static Hub remote;

    @TempDir
    private Path directory;

    private Shell shell = new Shell(Path.of(""));

    private static Hub remote() {
        return Hub.builder()
                .set("registry-publisher", "agent.localhost")
                .agents(Agent.named("far", "Answers from afar")
                        .skill("say", "Says it again")
                        .handle((request, reply) -> reply.complete("far " + request.text())))
                .inMemory()
                .port(0)
                .drain(Duration.ofMillis(200))
                .start();
    }

    @BeforeEach
    void begin() {
        shell = new Shell(directory);
    }

    @BeforeAll
    static void start() {
        remote = remote();
    }

    @AfterAll
    static void end() {
        remote.close();
    }

    private RunningHub up(String... more) throws InterruptedException {
        return new RunningHub(directory, Map.of(), more);
    }

    private Ran gateway(RunningHub hub, String... args) {
        var line = new ArrayList<>(List.of("gateway"));
        line.addAll(Arrays.asList(args));
        line.addAll(List.of("--url", hub.url()));
        return shell.run(line.toArray(String[]::new));
    }

    private String done(RunningHub hub, String... args) {
        Ran ran = gateway(hub, args);
        assertThat(ran.status()).as(String.join(" ", args) + ": " + ran.err()).isZero();
        return ran.out();
    }

    @Test
    @DisplayName(
            "GEM31 a hub of --remote only hosts the agent, also at its root, and keeps routes and tasks over a restart")
    void remoteOnly() throws Exception {
        String far = remote.agentUrl("far");
        String task;
        try (RunningHub hub = up("--data", "data", "--no-demo", "--remote", "first=" + far)) {
            assertThat(hub.announcement()).contains("Agent: first - a remote agent - ", "/agents/first \"hello\"");
            String sent = shell.run("send", "-a", hub.url() + "/agents/first", "hello")
                    .out();
            assertThat(sent).contains("far hello");
            task = sent.lines().findFirst().orElseThrow().replace("Task-ID: ", "");
            assertThat(shell.run("send", "-a", hub.url(), "hello").out()).contains("far hello");

            assertThat(done(hub, "add", "two", far, "--set", "retries=1")).contains("Name: two", "State: active");
            assertThat(done(hub, "list")).contains("Name: first", "Name: two", "Total-Size: 2");
            assertThat(done(hub, "list", "-o", "json")).startsWith("{\"routes\":[{\"name\":\"first\"");
            assertThat(done(hub, "show", "two"))
                    .contains(
                            "Digest: sha256:", "Verdict: UNSIGNED", "say", "\"retries\": 1", "\"breaker\": \"closed\"");
            assertThat(done(hub, "drain", "two", far)).contains("State: active");
            assertThat(done(hub, "show", "two", "-o", "json")).contains("\"draining\":true");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .err())
                    .contains("No replica of the agent can be called");
            assertThat(done(hub, "drain", "two", far, "--end", "-o", "json")).contains("\"name\":\"two\"");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .out())
                    .contains("far hello");
            assertThat(done(hub, "pause", "two", "--reason", "upgrade")).contains("State: paused", "Reason: upgrade");
            assertThat(done(hub, "refresh", "two")).contains("State: paused");
            assertThat(shell.run("doctor", "--data", "data").out())
                    .contains("ok, route \"first\": active, to " + far, "warning, route \"two\": paused: upgrade");
        }
        try (RunningHub hub = up("--data", "data", "--remote", "first=" + far)) {
            assertThat(shell.run("task", "get", "-a", hub.url() + "/agents/first", task)
                            .out())
                    .contains("far hello");
            assertThat(done(hub, "show", "two")).contains("State: paused", "Reason: upgrade");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .err())
                    .contains("paused until an operator resumes it");
            assertThat(done(hub, "resume", "two")).contains("State: active");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .out())
                    .contains("far hello");
            assertThat(done(hub, "remove", "two")).contains("Removed: two");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .status())
                    .isNotZero();
            assertThat(done(hub, "list")).contains("Total-Size: 1");
        }
    }

    @Test
    @DisplayName(
            "GEM31 a route whose row cannot be read stops no start, and is listed by doctor and its list, until it is made again")
    void damaged() throws Exception {
        String far = remote.agentUrl("far");
        try (RunningHub hub = up("--data", "data", "--no-demo", "--remote", "first=" + far)) {
            done(hub, "add", "two", far);
            done(hub, "add", "three", far);
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("data/parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE gateway_route SET settings = x'7b' WHERE name IN ('first', 'two')");
            statement.execute("UPDATE gateway_route SET state = 'UNKNOWN' WHERE name = 'three'");
        }

        Ran doctor = shell.run("doctor", "--data", "data");
        assertThat(doctor.status()).isEqualTo(1);
        assertThat(doctor.out())
                .contains("problem, route \"two\": the row cannot be read: Invalid JSON", "problem, route \"three\"");
        try (RunningHub hub = up("--data", "data", "--remote", "first=" + far)) {
            assertThat(shell.run("send", "-a", hub.url() + "/agents/first", "hello")
                            .out())
                    .contains("far hello");
            assertThat(done(hub, "list")).contains("Name: two", "State: damaged", "Reason: the row cannot be read");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/two", "hello")
                            .status())
                    .isNotZero();
            assertThat(done(hub, "remove", "two")).contains("Removed: two");
            done(hub, "add", "three", far);
            assertThat(done(hub, "list")).doesNotContain("Name: two", "damaged");
        }
    }

    @Test
    @DisplayName("GEM31 an entry of the registry becomes a route, by command and by --remote")
    void ofTheRegistry() throws Exception {
        String id = "urn:air:agent.localhost:default:far";
        try (RunningHub hub =
                up("--data", "data", "--gateway-allow", "127.0.0.1", "--registry-publisher", "agent.localhost")) {
            Files.writeString(
                    directory.resolve("card.json"),
                    shell.run("card", "get", "-a", remote.agentUrl("far"), "-o", "json")
                            .out());
            Ran registered = shell.run("agent", "register", "card.json", "--visibility", "public", "--url", hub.url());
            assertThat(registered.out()).as(registered.err()).contains(id);

            assertThat(done(hub, "add", "named", "registry:" + id)).contains("State: active");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/named", "hello")
                            .out())
                    .contains("far hello");
            assertThat(gateway(hub, "add", "other", "registry:none").err()).contains("none", "parley gateway list");
        }
        try (RunningHub hub =
                up("--data", "data", "--gateway-allow", "127.0.0.1", "--remote", "again=registry:" + id)) {
            assertThat(shell.run("send", "-a", hub.url() + "/agents/again", "hello")
                            .out())
                    .contains("far hello");

            Ran deleted = shell.run("agent", "delete", id, "--url", hub.url());
            assertThat(deleted.status()).as(deleted.err()).isZero();
            for (String route : List.of("again", "named")) {
                assertThat(shell.run("send", "-a", hub.url() + "/agents/" + route, "hello")
                                .err())
                        .as("M12: its entry is gone")
                        .contains("no longer in the registry");
            }
        }
    }

    @Test
    @DisplayName("M12: a route to an entry of a peer calls nobody once the peer is cut")
    void ofACutPeer() throws Exception {
        try (RunningHub there = new RunningHub(
                        directory.resolve("b"),
                        Map.of(),
                        "--data",
                        directory.resolve("b").toString(),
                        "--registry-publisher",
                        "b.localhost");
                RunningHub hub = up("--data", "data", "--gateway-allow", "127.0.0.1", "--fetch-allow", "127.0.0.1");
                HttpClient http = HttpClient.newHttpClient()) {
            String peer = "{\"url\":\"" + there.url() + "\",\"publishers\":[\"b.localhost\"],\"copied\":true}";
            admin(http, hub, "PUT", "/registry/peers/b", peer);
            admin(http, hub, "POST", "/registry/peers/b/copy", "{}");
            assertThat(done(hub, "add", "far", "registry:urn:air:b.localhost:agents:echo"))
                    .contains("State: active");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/far", "hello")
                            .out())
                    .contains("hello");

            admin(http, hub, "POST", "/registry/peers/b/cut", "{\"reason\":\"contract ended\"}");

            Ran refused = shell.run("send", "-a", hub.url() + "/agents/far", "hello");
            assertThat(refused.status()).isNotZero();
            assertThat(refused.err()).contains("no longer in the registry");
        }
    }

    @Test
    @DisplayName("D10: routes and peers are deleted over HTTP without a body and its type")
    void deletedWithoutABody() throws Exception {
        try (RunningHub hub = up("--in-memory", "--fetch-allow", "127.0.0.1");
                HttpClient http = HttpClient.newHttpClient()) {
            admin(http, hub, "PUT", "/registry/peers/b", "{\"url\":\"" + remote.url() + "\"}");
            assertThat(done(hub, "add", "there", remote.agentUrl("far"))).contains("State: active");
            for (String path : List.of("/admin/gateway/routes/there", "/admin/registry/peers/b")) {
                HttpResponse<String> deleted = http.send(
                        HttpRequest.newBuilder(URI.create(hub.url() + path))
                                .DELETE()
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertThat(deleted.statusCode()).as(deleted.body()).isEqualTo(200);
            }
        }
    }

    private static void admin(HttpClient http, RunningHub hub, String verb, String path, String body) throws Exception {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create(hub.url() + "/admin" + path))
                        .header("Content-Type", "application/json")
                        .method(verb, HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    @Test
    @DisplayName("--agent-auth guards a route of --remote")
    void authenticationOfARoute() throws Exception {
        String far = remote.agentUrl("far");
        try (RunningHub hub = up("--in-memory", "--remote", "first=" + far, "--agent-auth", "first=apiKey")) {
            Ran refused = shell.run("send", "-a", hub.url() + "/agents/first", "hello");
            assertThat(refused.status()).isNotZero();
            assertThat(refused.err()).contains("uthentication");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/echo", "hello")
                            .status())
                    .isZero();
        }
    }

    @Test
    void remotesThatCannotBeAreRefusedBeforeTheStart() {
        Map.of(
                        List.of("--agent-auth", "first=apiKey"), "--agent-auth: no agent first (expected: one of ",
                        List.of("--remote", "echo=http://x.example"), "echo: an agent of the hub has this name",
                        List.of("--remote", "one=http://x.example"), "one: an agent of the hub has this name",
                        List.of("--remote", "a/b=http://x.example"), "expected: NAME=URL, with a name",
                        List.of("--remote", "a=ftp://x.example"), "a=ftp://x.example (expected: an http or https URL",
                        List.of("--remote", "a"), "expected: NAME=URL",
                        List.of("--remote", "a=http://x.example,a=http://y.example"), "a: duplicate name")
                .forEach((flags, told) -> {
                    var line = new ArrayList<>(List.of("up", "--in-memory", "--port", "0"));
                    line.addAll(flags);
                    Ran ran = shell.run(line.toArray(String[]::new));
                    assertThat(ran.status()).as(ran.err()).isEqualTo(2);
                    assertThat(ran.err()).contains(told);
                });
    }

    @Test
    void wrongInputIsRefusedWithTheExpectedOne() throws Exception {
        String far = remote.agentUrl("far");
        try (RunningHub hub = up("--in-memory")) {
            for (List<String> wrong :
                    List.of(List.of("add", "first"), List.of("add", "one", far, "--trust", "@missing.json"))) {
                assertThat(gateway(hub, wrong.toArray(String[]::new)).status())
                        .as(wrong.toString())
                        .isEqualTo(2);
            }
            Map.of(
                            List.of("add", "A/B", far), "expected: at most 63 of a-z",
                            List.of("add", "..", far), "expected: at most 63 of a-z",
                            List.of("add", "echo", far), "an agent of the hub has this name",
                            List.of("add", "registry", far), "an agent of the hub has this name",
                            List.of("add", "first", "nowhere"), "no http or https URL",
                            List.of("add", "first", "http://127.0.0.1:1"), "http://127.0.0.1:1",
                            List.of("add", "first", far, "--set", "speed=9"), "expected: NAME=VALUE with one of",
                            List.of("add", "first", far, "--trust", "no keys"), "trust",
                            List.of("show", "none"), "expected: the name of a route",
                            List.of("remove", "none"), "expected: the name of a route")
                    .forEach((args, told) -> {
                        Ran ran = gateway(hub, args.toArray(String[]::new));
                        assertThat(ran.status()).as(args + ran.err()).isNotZero();
                        assertThat(ran.err()).contains(told).doesNotContain("\tat ");
                        Ran json = gateway(hub, with(args, "-o", "json"));
                        assertThat(json.out()).startsWith("{\"error\":");
                    });
            assertThat(done(hub, "list")).contains("Total-Size: 0");
        }
    }

    private static String[] with(List<String> args, String... more) {
        var line = new ArrayList<>(args);
        line.addAll(List.of(more));
        return line.toArray(String[]::new);
    }

    @Test
    @DisplayName("the verdict on a signed card is shown; another key pauses the route")
    void signatures() throws Exception {
        for (String key : List.of("first.json", "second.json")) {
            assertThat(shell.run("card", "key", "create", key).status()).isZero();
        }
        String port = String.valueOf(freePort());
        try (RunningHub hub = up("--in-memory")) {
            String remote;
            try (RunningHub upstream = upstream(port, "first.json")) {
                remote = upstream.url() + "/agents/echo";
                Files.writeString(
                        directory.resolve("trusted.json"),
                        shell.run("card", "key", "fetch", upstream.url()).out());
                assertThat(done(hub, "add", "signed", remote, "--trust", "@trusted.json"))
                        .contains("State: active");
                assertThat(done(hub, "show", "signed")).contains("Verdict: VERIFIED");
                assertThat(shell.run("card", "get", "-a", hub.url() + "/agents/signed", "-o", "json")
                                .out())
                        .contains("\"verdict\":\"verified\"", "\"keyId\":");
            }
            try (RunningHub upstream = upstream(port, "second.json")) {
                assertThat(upstream.url()).isNotEmpty();
                assertThat(done(hub, "refresh", "signed")).contains("State: changed", "not signed as required");
                assertThat(shell.run("send", "-a", hub.url() + "/agents/signed", "hello")
                                .err())
                        .contains("paused until an operator resumes it");
            }
            try (RunningHub upstream = upstream(port, "first.json")) {
                assertThat(upstream.url()).isNotEmpty();
                assertThat(done(hub, "refresh", "signed")).contains("State: active");
            }
        }
    }

    @Test
    @DisplayName("keys of --gateway-trust verify cards: the right one shows the verdict, another one the lack of trust")
    void keysForAllRoutes() throws Exception {
        for (String key : List.of("first.json", "second.json")) {
            assertThat(shell.run("card", "key", "create", key).status()).isZero();
        }
        String port = String.valueOf(freePort());
        try (RunningHub upstream = upstream(port, "second.json")) {
            Files.writeString(
                    directory.resolve("other.json"),
                    shell.run("card", "key", "fetch", upstream.url()).out());
        }
        try (RunningHub upstream = upstream(port, "first.json")) {
            String remote = upstream.url() + "/agents/echo";
            Files.writeString(
                    directory.resolve("trusted.json"),
                    shell.run("card", "key", "fetch", upstream.url()).out());
            try (RunningHub hub = up("--in-memory", "--gateway-trust", file("other.json"))) {
                assertThat(done(hub, "add", "signed", remote)).contains("State: active");
                assertThat(done(hub, "show", "signed")).contains("Verdict: UNVERIFIABLE");
                assertThat(shell.run("card", "get", "-a", hub.url() + "/agents/signed", "-o", "json")
                                .out())
                        .contains("\"verdict\":\"unverifiable\"");
            }
        }
        try (RunningHub hub = up("--in-memory", "--gateway-trust", file("trusted.json"))) {
            try (RunningHub upstream = upstream(port, "first.json")) {
                assertThat(done(hub, "add", "signed", upstream.url() + "/agents/echo"))
                        .contains("State: active");
                assertThat(done(hub, "show", "signed")).contains("Verdict: VERIFIED");
                assertThat(shell.run("send", "-a", hub.url() + "/agents/signed", "hello")
                                .status())
                        .isZero();
            }
            try (RunningHub upstream = upstream(port, "second.json")) {
                assertThat(upstream.url()).isNotEmpty();
                assertThat(done(hub, "refresh", "signed")).contains("State: changed");
                assertThat(shell.run("send", "-a", hub.url() + "/agents/signed", "hello")
                                .err())
                        .contains("paused until an operator resumes it");
            }
        }
        Ran missing = shell.run("up", "--in-memory", "--port", "0", "--gateway-trust", file("none.json"));
        assertThat(missing.status()).isEqualTo(2);
        assertThat(missing.err()).contains("none.json").doesNotContain("\tat ");
    }

    @Test
    @DisplayName("M2, ONE22: a route answers envelopes of the ONE mesh for an agent that knows only A2A")
    void envelopes() throws Exception {
        String envelope = """
                {"version":"1.0","messageId":"m-1","from":{"agentId":"planner","endpoint":"http://planner.example"},
                 "to":{"agentId":"first","endpoint":"http://hub.example"},
                 "message":{"type":"query","mimeType":"application/json","content":{"query":"hello"}}}""";
        try (RunningHub hub = up("--in-memory", "--remote", "first=" + remote.agentUrl("far"));
                HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + "/agents/first/one"))
                    .header("Content-Type", "application/json")
                    .header("Prefer", "wait=30")
                    .POST(HttpRequest.BodyPublishers.ofString(envelope))
                    .build();
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains("\"type\":\"response\"");
        }
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    @Test
    @DisplayName(
            "GEM31, N9: a hub without agents of its own starts, with the routes of its database or with none at first")
    void storedRoutesOnly() throws Exception {
        Ran unknown = shell.run("up", "--data", "none", "--port", "0", "--no-demo", "--default-agent", "stored");
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.err()).contains("no agent stored");
        try (RunningHub hub = up("--data", "none", "--no-demo")) {
            assertThat(hub.announcement()).doesNotContain("Agent:");
            assertThat(done(hub, "add", "later", remote.agentUrl("far"))).contains("State: active");
            assertThat(shell.run("send", "-a", hub.url() + "/agents/later", "hello")
                            .out())
                    .contains("far hello");
        }

        try (RunningHub hub = up("--data", "data")) {
            assertThat(done(hub, "add", "stored", remote.agentUrl("far"))).contains("State: active");
            assertThat(done(hub, "add", "another", remote.agentUrl("far"))).contains("State: active");
        }
        try (RunningHub hub = up("--data", "data", "--no-demo", "--default-agent", "stored")) {
            assertThat(hub.announcement())
                    .contains("Agent: stored - a remote agent", "Agent: another - a remote agent");
            for (String url : List.of(hub.url(), hub.url() + "/agents/stored", hub.url() + "/agents/another")) {
                assertThat(shell.run("send", "-a", url, "hello").out()).contains("far hello");
            }
        }
        try (RunningHub hub = up("--data", "data", "--agent-auth", "stored=apiKey")) {
            assertThat(shell.run("send", "-a", hub.url() + "/agents/stored", "hello")
                            .err())
                    .contains("uthentication");
        }

        try (RunningHub hub = up("--data", "data", "--no-demo")) {
            assertThat(done(hub, "remove", "stored")).contains("Removed: stored");
            assertThat(done(hub, "remove", "another")).contains("Removed: another");
        }
        try (RunningHub hub = up("--data", "data", "--no-demo")) {
            assertThat(hub.announcement()).doesNotContain("Agent:");
        }
    }

    private RunningHub upstream(String port, String key) throws InterruptedException {
        return new RunningHub(directory, Map.of("PARLEY_PORT", port), "--in-memory", "--card-key", key);
    }

    private static int freePort() throws IOException {
        try (var socket = new java.net.ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
