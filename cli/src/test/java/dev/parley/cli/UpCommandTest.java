package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hub, started by the command line and talked to by it. */
@Timeout(90)
@Tag("heavy")
class UpCommandTest {
    @TempDir
    Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory);
    }

    private final class Running extends RunningHub {
        Running(String... more) throws InterruptedException {
            super(directory, Map.of(), more);
        }

        Running(Map<String, String> environment, String... more) throws InterruptedException {
            super(directory, environment, more);
        }
    }

    @Test
    void theRunForTheCacheOfTheJvmIgnoresTheSettingsOfTheMachine() {
        Shell.Ran ran = new Shell(directory)
                .with("PARLEY_AUTH", "required")
                .with("PARLEY_NO_DEMO", "true")
                .run("warm-up");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).isEmpty();
    }

    @Test
    void aHubSaysWhereItIsAndStopsWhenTold() throws InterruptedException {
        var hub = new Running("--in-memory", "--drain", "1s");
        String url = hub.url();

        int status = hub.stop();

        assertThat(hub.command.join()).isZero();
        assertThat(status).isZero();
        assertThat(hub.announcement())
                .contains("Agent: echo - ")
                .contains("- " + url + "/agents/counter/.well-known/agent-card.json")
                .contains("parley send -a " + url + "/agents/echo \"hello\"")
                .contains("curl -s " + url + "/agents/echo/message:send")
                .contains("parley task list -a " + url + "/agents/echo");
        assertThat(hub.err.toString(StandardCharsets.UTF_8))
                .contains("stopping")
                .contains("stopped");
        assertThat(shell.run("card", "get", "-a", url).status()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3", "0.1", "kernel", "agentvault", "kernel,agentvault"})
    @DisplayName("D10: the commands that a hub prints are for the dialects that it serves")
    void theCommandsToTryAreServed(String dialects) throws Exception {
        try (var hub = new Running("--in-memory", "--drain", "1s", "--dialects", dialects)) {
            String url = hub.url();
            String curl = hub.announcement()
                    .lines()
                    .filter(line -> line.contains("curl "))
                    .findFirst()
                    .orElseThrow();
            var called = Pattern.compile("curl -s (\\S+)(.*) -d '(.*)'").matcher(curl.strip());
            assertThat(called.matches()).as(curl).isTrue();
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(called.group(1)))
                    .POST(HttpRequest.BodyPublishers.ofString(called.group(3)));
            Pattern.compile("-H '([^:]+): ([^']+)'")
                    .matcher(called.group(2))
                    .results()
                    .forEach(header -> request.header(header.group(1), header.group(2)));

            try (HttpClient http = HttpClient.newHttpClient()) {
                HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.body()).contains("\"id\"").doesNotContain("\"error\"");
            }
            assertThat(shell.run("send", "-a", url + "/agents/echo", "hello").out())
                    .contains("hello");
            if (hub.announcement().contains("parley task list")) {
                assertThat(shell.run("task", "list", "-a", url + "/agents/echo").status())
                        .isZero();
            }
        }
    }

    @Test
    @Tag("A2ACLI_SEND_001")
    @Tag("A2ACLI_TASK_GET_001")
    @Tag("A2ACLI_TASK_LIST_001")
    @Tag("A2ACLI_TX_004")
    void allCommandsWorkWithAHub() throws InterruptedException {
        try (var hub = new Running("--data", "data")) {
            String echo = hub.url() + "/agents/echo";
            Shell.Ran first = shell.run("send", "-a", echo, "hello");
            assertThat(first.err()).doesNotContain("Error");
            String sent = first.out();
            String task = sent.lines().findFirst().orElseThrow().replace("Task-ID: ", "");

            assertThat(sent).contains("Text:\n  hello\n");
            assertThat(shell.run("send", "-a", hub.url(), "hello", "--transport", "rest")
                            .out())
                    .contains("TASK_STATE_COMPLETED");
            assertThat(shell.run("task", "get", "-a", echo, task, "--history", "5")
                            .out())
                    .contains("History: user\n");
            assertThat(shell.run("task", "list", "-a", echo, "--status", "completed")
                            .out())
                    .contains("Task-ID: " + task)
                    .contains("Total-Size: 2");
            assertThat(shell.run("task", "list", "-a", echo, "-o", "json", "--stream")
                            .out())
                    .hasLineCount(2);
            assertThat(shell.run("task", "cancel", "-a", echo, task).err()).contains("TaskNotCancelableError");
            assertThat(shell.run("task", "get", "-a", echo, "none", "--transport", "rest", "-o", "json")
                            .out())
                    .contains("TaskNotFoundError")
                    .contains("\"a2aCode\":404");
            assertThat(shell.run("push", "dead-letters", "list", "--url", hub.url())
                            .out())
                    .isEqualTo("Total-Size: 0\n");
            assertThat(shell.run("push", "dead-letters", "redeliver", task, "none", "--url", hub.url())
                            .status())
                    .isEqualTo(1);
            assertThat(directory.resolve("data")).isDirectory();
        }
    }

    @Test
    @Tag("A2ACLI_PUSH_001")
    void webhooksOfATaskAreManaged() throws InterruptedException {
        try (var hub = new Running("--in-memory", "--webhook-allow", "127.0.0.1")) {
            String agent = hub.url() + "/agents/interview";
            String sent = shell.run("send", "-a", agent, "hello").out();
            String task = sent.lines().findFirst().orElseThrow().replace("Task-ID: ", "");

            Shell.Ran made = shell.with("A2ACLI_TOKEN", "sesame")
                    .run(
                            "task",
                            "push-config",
                            "create",
                            task,
                            "-a",
                            agent,
                            "--url",
                            "http://127.0.0.1:1/hook",
                            "--id",
                            "w1");

            assertThat(made.out())
                    .contains("Task-ID: " + task)
                    .contains("State: TASK_STATE_INPUT_REQUIRED")
                    .contains("Config-ID: w1")
                    .doesNotContain("sesame");
            assertThat(shell.run("task", "push-config", "list", task, "-a", agent, "-o", "json")
                            .out())
                    .contains("\"id\":\"w1\"");
            assertThat(shell.run("task", "push-config", "get", task, "w1", "-a", agent)
                            .out())
                    .contains("URL: http://127.0.0.1:1/hook");
            assertThat(shell.run("task", "push-config", "delete", task, "w1", "-a", agent, "-o", "json")
                            .out())
                    .isEqualTo("{}\n");
        }
    }

    @Test
    void theConformanceAgentIsHostedOnlyWhenNamed() throws InterruptedException {
        try (var hub = new Running("--in-memory", "--no-demo", "--default-agent", "conformance")) {
            assertThat(hub.announcement()).contains("Agent: conformance - ").doesNotContain("Agent: echo");
            assertThat(shell.run("card", "get", "-a", hub.url()).out()).contains("Name: conformance");
        }
    }

    @Test
    void anAddressThatOthersReachIsRefusedWithTheReason() {
        Shell.Ran ran = shell.run("up", "--bind", "0.0.0.0", "--in-memory");

        assertThat(ran.status()).isEqualTo(2);
    }

    @Test
    void anInvalidPolicyIsRefusedWithTheDocumentOfPolicies() throws Exception {
        Files.writeString(directory.resolve("policy.json"), "{\"rules\": [{\"effect\": \"allow\", \"groups\": []}]}");

        Shell.Ran ran = shell.run("up", "--policy", "policy.json", "--in-memory");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err())
                .contains("rules[0].groups (expected: a list of at least one text)")
                .contains("see docs/authorization.md");
    }

    @Test
    void callersShowWhatTheSettingsSay() throws Exception {
        Files.writeString(directory.resolve("callers.json"), "{\"alice\": \"key-of-alice-12345\"}");
        Files.writeString(directory.resolve("hub.yaml"), """
                auth: apiKey
                agent-auth: [counter=none, echo=apiKey+oauth2]
                agent-auth-scopes: echo=tasks
                callers: callers.json
                """);
        shell.with("A2ACLI_API_KEY", "key-of-alice-12345");
        var stranger = new Shell(directory);

        try (var hub = new Running(
                Map.of("PARLEY_CALLER_SHOP_CLIENT_SECRET", "secret-of-the-shop"),
                "--in-memory",
                "--config",
                "hub.yaml")) {
            assertThat(hub.announcement()).contains("Authentication: apiKey\n");
            String agents = hub.url() + "/agents/";

            assertThat(stranger.run("send", "-a", agents + "ping", "ping").status())
                    .isEqualTo(4);
            assertThat(shell.run("send", "-a", agents + "ping", "ping").status())
                    .isZero();
            assertThat(stranger.run("send", "-a", agents + "counter", "1 2").status())
                    .isZero();
            assertThat(shell.run("send", "-a", agents + "echo", "hello").err()).contains("tasks");
        }
    }

    @Test
    void settingsThatGuardNothingAreRefused() throws IOException {
        Files.writeString(directory.resolve("short.json"), "{\"alice\": \"short\"}");

        assertThat(shell.run("up", "--in-memory", "--auth", "magic").err())
                .contains("scheme: magic (expected: none, apiKey, bearer, oauth2,");
        assertThat(shell.run("up", "--in-memory", "--auth", "oauth2").err())
                .contains("no caller has a credential for it");
        assertThat(shell.run("up", "--in-memory", "--agent-auth", "eco=none").err())
                .contains("--agent-auth: no agent eco")
                .contains("did you mean echo?");
        assertThat(shell.run("up", "--in-memory", "--agent-auth", "one=apiKey", "--callers", "short.json")
                        .err())
                .contains("API key of alice")
                .doesNotContain("no agent one");
        assertThat(shell.run("up", "--in-memory", "--agent-auth-scopes", "echo=tasks")
                        .err())
                .contains("agent-auth-scopes: echo (expected: an agent of --agent-auth)");
        assertThat(shell.run("up", "--in-memory", "--callers", "short.json").err())
                .contains("API key of alice: 5 characters (expected: >= 16)");
        assertThat(shell.run("up", "--in-memory", "--callers", "missing.json").status())
                .isEqualTo(2);
    }

    @Test
    void aBusyPortIsNamed() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();

            Shell.Ran ran = shell.run("up", "--in-memory", "--port", String.valueOf(port));

            assertThat(ran.status()).isEqualTo(1);
            assertThat(ran.err())
                    .contains("port " + port + " of 127.0.0.1 cannot be opened")
                    .contains("(PARLEY_ERR_PORT)")
                    .contains("--port");
            assertThat(shell.run("up", "--in-memory", "--port", "0", "--admin-port", String.valueOf(port))
                            .err())
                    .contains("port " + port + " of 127.0.0.1 cannot be opened")
                    .contains("--admin-port");
        }
    }

    @Test
    void aMalformedUrlOfTheDatabaseIsAUsageErrorAndNotKept() {
        for (String url :
                List.of("postgres//db/parley", "mysql://db/parley", "postgresql://db", "postgresql://db:0/x")) {
            Shell.Ran ran = shell.run("up", "--data", "data", "--port", "0", "--database", url);

            assertThat(ran.status()).as(ran.err()).isEqualTo(2);
            assertThat(ran.err())
                    .contains("(A2ACLI_ERR_USAGE)", "expected: postgresql://user@host/database", "--database");
            assertThat(directory.resolve("data")).doesNotExist();
        }
    }

    @Test
    void aDatabaseServerThatCannotBeReachedHasAnErrorOfItsOwnAndIsNotKept() throws IOException {
        int port;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }

        Shell.Ran ran = shell.run(
                "up", "--data", "data", "--port", "0", "--database", "postgresql://me:s3cret@127.0.0.1:" + port + "/x");

        assertThat(ran.status()).as(ran.err()).isEqualTo(1);
        assertThat(ran.err())
                .contains("(PARLEY_ERR_DATABASE)", "PostgreSQL at 127.0.0.1:" + port, "start the server", "--database")
                .doesNotContain("s3cret");
        assertThat(directory.resolve("data/database.url")).doesNotExist();
    }

    @Test
    void aDataDirectoryThatCannotBeUsedHasAnErrorOfItsOwn() throws IOException {
        Files.writeString(directory.resolve("file"), "not a directory");
        Files.createDirectory(directory.resolve("damaged"));
        Files.writeString(directory.resolve("damaged/parley.db"), "not a database\n".repeat(1_000));
        Files.createDirectory(directory.resolve("edited"));
        Files.writeString(directory.resolve("edited/database.url"), "nonsense");

        for (String data : List.of("file", "file/below", "damaged", "edited")) {
            Shell.Ran ran = shell.run("up", "--data", data, "--port", "0");

            assertThat(ran.status()).as(ran.err()).isEqualTo(1);
            assertThat(ran.err()).as(data).contains("(PARLEY_ERR_DATA)", data, "expected: ", "--data");
        }
        assertThat(shell.run("key", "list", "--data", "file/below").err()).contains("(PARLEY_ERR_DATA)");
    }

    @Test
    void operatorsMayHaveAPortOfTheirOwn() throws Exception {
        try (var hub = new Running("--in-memory", "--auth", "required", "--admin-port", "0")) {
            Matcher told = Pattern.compile("^(Admin-URL|Bootstrap-Key): (\\S+)", Pattern.MULTILINE)
                    .matcher(hub.announcement());
            assertThat(told.find()).isTrue();
            String operators = told.group(2);
            assertThat(told.find()).isTrue();
            String key = told.group(2);

            assertThat(shell.run("key", "list", "--url", operators, "--api-key", key)
                            .status())
                    .isZero();
            assertThat(shell.run("key", "list", "--url", operators).err()).contains("answered 401", "--api-key");
            assertThat(shell.run("key", "list", "--url", hub.url(), "--api-key", key))
                    .matches(ran -> ran.status() == 1)
                    .extracting(Shell.Ran::err)
                    .asString()
                    .contains("answered 404: ", "--admin-port")
                    .doesNotContain("{");
        }
    }

    @Test
    void settingsThatCannotBeAreRefusedBeforeAnythingStarts() throws IOException {
        Files.createDirectory(directory.resolve("empty"));

        assertThat(List.of(
                        shell.run("up", "--default-agent", "eco"),
                        shell.run("up", "--agents", "missing.jar"),
                        shell.run("up", "--agents", "empty"),
                        shell.run("up", "--tls-cert", "cert.pem", "--in-memory"),
                        shell.run("up", "--retention", "long", "--in-memory"),
                        shell.run("up", "--max-turns", "0", "--in-memory"),
                        shell.run("up", "--max-task", "2GB", "--in-memory"),
                        shell.run("up", "--public-url", "example", "--in-memory")))
                .allSatisfy(ran -> assertThat(ran.status()).as(ran.err()).isEqualTo(2));
        assertThat(shell.run("up", "--default-agent", "eco").err()).contains("did you mean echo?");
    }

    @Test
    void whatCannotBeIsToldByTheNameOfItsFlag() {
        Map.of(
                        List.of("--admin-bind", "127.0.0.1"), "--admin-bind without --admin-port",
                        List.of("--port", "17500", "--admin-port", "17500"), "--port and --admin-port are both 17500",
                        List.of("--data", ""), "invalid --data:  (expected: a path)",
                        List.of("--max-task", "2GB"), "invalid --max-task: 2GB (expected: a size from 1B to 1GB)",
                        List.of("--webhook-allow", "http://x"), "invalid --webhook-allow: http://x (expected: host",
                        List.of("--auth", "openIdConnect"),
                                "--auth: openIdConnect without --issuer (expected: the issuer",
                        List.of("--agent-auth", "echo=apiKey+openIdConnect"), "--agent-auth: openIdConnect without",
                        List.of("--public-url", "http://x:99999"), "port 99999 in http://x:99999 (expected: a port")
                .forEach((flags, told) -> {
                    var line = new ArrayList<>(List.of("up", "--in-memory"));
                    line.addAll(flags);
                    Shell.Ran ran = shell.run(line.toArray(String[]::new));
                    assertThat(ran.status()).as(ran.err()).isEqualTo(2);
                    assertThat(ran.err()).contains(told);
                });
    }

    @Test
    void tracesGoWhereOtlpIsSpoken() throws Exception {
        try (var receiver = new OtlpReceiver(OtlpReceiver.Mode.ACCEPT)) {
            var hub = new Running("--in-memory", "--otlp-endpoint", receiver.url());
            assertThat(shell.run("send", "-a", hub.url() + "/agents/echo", "hello")
                            .status())
                    .isZero();

            hub.close();

            assertThat(receiver.spans()).extracting(Span::getName).contains("invoke_agent echo");
            assertThat(receiver.resources()).contains("service.name", "parley");
        }
    }

    private static String get(String url) throws IOException {
        try (InputStream in = URI.create(url).toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void keysOfAHubAreTrustedForItsHost() throws Exception {
        assertThat(shell.run("card", "key", "create", "key.json").status()).isZero();
        try (var hub = new Running("--in-memory", "--card-key", "key.json")) {
            Shell.Ran fetched = shell.run("card", "key", "fetch", hub.url());
            assertThat(fetched.out()).as(fetched.err()).contains("\"hosts\"", "\"127.0.0.1\"");
            Files.writeString(directory.resolve("trusted.json"), fetched.out());

            Shell.Ran there = shell.run("card", "verify", hub.url(), "--trust", "trusted.json");
            Shell.Ran elsewhere =
                    shell.run("card", "verify", hub.url().replace("127.0.0.1", "localhost"), "--trust", "trusted.json");
            Shell.Ran used = shell.run("send", "-a", hub.url(), "--trust", "trusted.json", "hello");

            assertThat(there.out()).as(there.err()).contains("VERIFIED", "as it may for 127.0.0.1");
            assertThat(elsewhere.err()).contains("UNVERIFIABLE", "is trusted for 127.0.0.1, not for localhost");
            assertThat(used.status()).as(used.err()).isZero();
        }
    }

    @Test
    @DisplayName("GEM44: agents and extensions come from jars")
    void agentsAndExtensionsComeFromJars() throws Exception {
        Path jar = directory.resolve("agents.jar");
        TestAgents.writeJar(jar);

        var environment = Map.of("PARLEY_JARRED_TEXT", "a page of a jar");
        try (var hub = new Running(environment, "--in-memory", "--no-demo", "--agents", "agents.jar")) {
            Shell.Ran sent = shell.run("send", "-a", hub.url(), "hello");
            assertThat(sent.out()).as(sent.err()).contains("Text:\n  from a jar: hello\n");

            String extension = hub.url() + "/extensions/jarred/v1";
            assertThat(get(hub.url() + "/.well-known/agent-card.json")).contains(extension);
            assertThat(get(hub.url() + "/extensions")).contains(extension, "jarred/greet", "\"agents\":[\"jarred\"");
            assertThat(get(extension)).isEqualTo("# Jarred");
            assertThat(get(hub.url() + "/jarred")).isEqualTo("a page of a jar");
        }
    }

    @Test
    void whatIsToBeTriedHasAKeyWhereOneIsAskedFor() throws Exception {
        try (var running = new Running("--in-memory", "--auth", "required")) {
            assertThat(running.announcement())
                    .contains("export A2ACLI_API_KEY=", "-H \"X-Api-Key: $A2ACLI_API_KEY\"", "Bootstrap-Key: parley_");
        }
    }
}
