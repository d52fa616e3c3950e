package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.status;
import static dev.parley.cli.ScriptedServer.task;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.ScriptedServer.End;
import dev.parley.cli.output.Interruption;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the A2A CLI specification wants and {@code docs/cli-compliance.yaml} reports, tagged with the identifiers of its
 * requirements. Against a hub wherever a hub can be brought to do what is wanted, else against a scripted agent.
 */
@Timeout(90)
@Tag("heavy")
class ComplianceTest {
    private static final String SECRET = "s3cret-t0ken-value";
    private static final String BEARER = "{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}";
    private static final String KEY = "{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"x-my-key\"}}";

    @TempDir
    Path directory;

    private final CountDownLatch go = new CountDownLatch(1);
    private final List<AutoCloseable> running = new ArrayList<>();
    private Shell shell;

    @BeforeEach
    void start() throws IOException {
        shell = new Shell(Files.createDirectory(directory.resolve("work")));
    }

    @AfterEach
    void stop() throws Exception {
        go.countDown();
        for (AutoCloseable one : running.reversed()) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T closing(T one) {
        running.add(one);
        return one;
    }

    private ScriptedServer scripted() {
        return closing(new ScriptedServer());
    }

    /** Works until {@link #go} lets it. */
    private Agent.Builder patient() {
        return Agent.named("patient", "Waits for a sign").skill("wait", "Waits", "test");
    }

    private Agent patientAgent() {
        return handled(patient());
    }

    private Agent handled(Agent.Builder agent) {
        return agent.handle((request, reply) -> {
            reply.progress(10, "waiting");
            go.await();
            reply.complete("done: " + request.text());
        });
    }

    private Hub hub(HubBuilder settings, Agent... agents) {
        return closing(settings.agents(agents)
                .port(0)
                .inMemory()
                .drain(Duration.ofMillis(200))
                .start());
    }

    private Hub hub(Agent... agents) {
        return hub(Hub.builder(), agents);
    }

    private static String taskId(Shell.Ran ran) {
        assertThat(ran.out()).as(ran.err()).startsWith("Task-ID: ");
        return ran.out().lines().findFirst().orElseThrow().replace("Task-ID: ", "");
    }

    /** A command that goes on while it is watched. */
    private final class Watched {
        private final CountDownLatch seen = new CountDownLatch(1);
        private final ByteArrayOutputStream out;
        private final ByteArrayOutputStream err;
        private final CompletableFuture<Integer> status;

        /** @param sign what is waited for on standard output */
        Watched(String sign, String... args) throws InterruptedException {
            out = noticing(sign);
            err = noticing(sign);
            status = CompletableFuture.supplyAsync(() -> shell.run(out, err, args), Thread.ofPlatform()::start)
                    .whenComplete((done, failure) -> seen.countDown());
            assertThat(seen.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(status.isDone()).as(out + "\n" + err).isFalse();
        }

        private ByteArrayOutputStream noticing(String sign) {
            return new ByteArrayOutputStream() {
                @Override
                public synchronized void write(byte[] bytes, int offset, int length) {
                    super.write(bytes, offset, length);
                    if (toString(StandardCharsets.UTF_8).contains(sign)) {
                        seen.countDown();
                    }
                }
            };
        }

        Shell.Ran end() throws Exception {
            int code = status.get(60, TimeUnit.SECONDS);
            return new Shell.Ran(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        }
    }

    // ---- Sending and cancelling

    @Test
    @Tag("A2ACLI_SEND_003")
    void whoDoesNotStreamIsPolledAndWhoOnlyAnswersEndsTheStream() throws Exception {
        var ping = DemoAgents.all().getFirst();
        Hub hub = hub(handled(patient().streaming(false)), ping);

        var watched = new Watched(
                "WORKING",
                "send",
                "-a",
                hub.agentUrl("patient"),
                "hello",
                "--stream",
                "-o",
                "json",
                "--poll-interval",
                "100ms");
        go.countDown();
        Shell.Ran polled = watched.end();
        Shell.Ran answered = shell.run("send", "-a", hub.agentUrl("ping"), "hello", "--stream", "-o", "json");

        assertThat(polled.status()).isZero();
        assertThat(polled.err()).contains("does not stream");
        assertThat(polled.out().lines().toList().getLast()).contains("TASK_STATE_COMPLETED", "done: hello");
        assertThat(answered.status()).isZero();
        assertThat(answered.out()).startsWith("{\"message\":").hasLineCount(1);
    }

    @Test
    @Tag("A2ACLI_SEND_003")
    void whoRefusesTheStreamThatItsCardPromisesIsPolledToo() {
        ScriptedServer agent = scripted()
                .onError("SendStreamingMessage", -32601, "no such method")
                .on("SendMessage", "{\"task\":" + task("t1", "WORKING") + "}")
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--stream", "--poll-interval", "100ms");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("TASK_STATE_COMPLETED");
        assertThat(agent.methods()).containsExactly("SendStreamingMessage", "SendMessage", "GetTask");
    }

    @Test
    @Tag("A2ACLI_TASK_CANCEL_001")
    void theSecondCancelChangesNothingAndReportsTheSameState() {
        String agent = hub(patientAgent()).agentUrl("patient");
        String id = taskId(shell.run("send", "-a", agent, "hello", "--async"));

        Shell.Ran first = shell.run("task", "cancel", id, "-a", agent);
        Shell.Ran second = shell.run("task", "cancel", id, "-a", agent);
        Shell.Ran json = shell.run("task", "cancel", id, "-a", agent, "-o", "json");

        assertThat(first.status()).isZero();
        assertThat(first.out()).contains("State: TASK_STATE_CANCELED");
        assertThat(first.err()).isEmpty();
        assertThat(second.status()).isEqualTo(1);
        assertThat(second.out()).contains("Task-ID: " + id, "Context-ID: ", "State: TASK_STATE_CANCELED");
        assertThat(second.err())
                .contains("task " + id + " has ended already, in TASK_STATE_CANCELED (TaskNotCancelableError)")
                .contains("parley task get " + id + " --agent-card=" + agent);
        assertThat(json.status()).isEqualTo(1);
        assertThat(json.out())
                .startsWith("{\"error\":{\"code\":\"TaskNotCancelableError\"")
                .contains("TASK_STATE_CANCELED", "\"a2aCode\":-32002")
                .hasLineCount(1);
    }

    // ---- Identifiers

    @Test
    @Tag("A2ACLI_INTERACT_003")
    void identifiersOfTheServerAreNeverMadeUp() {
        ScriptedServer agent =
                scripted().onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + task("t7", "COMPLETED") + "}");

        shell.run("send", "-a", agent.url(), "a new task");
        shell.run("send", "-a", agent.url(), "another one of this context", "--context-id", "c7");
        shell.run("send", "-a", agent.url(), "the same task", "--task-id", "t7");

        assertThat(agent.asked())
                .extracting(ComplianceTest::identifiers)
                .containsExactly(
                        List.of("messageId"), List.of("contextId", "messageId"), List.of("messageId", "taskId"));
    }

    /** Which identifiers the message of a request carries. */
    private static List<String> identifiers(ScriptedServer.Asked asked) {
        var message = (Map<?, ?>) requireNonNull(asked.params().get("message"));
        return message.keySet().stream()
                .map(String::valueOf)
                .filter(name -> name.endsWith("Id"))
                .sorted()
                .toList();
    }

    @Test
    @Tag("A2ACLI_INTERACT_005")
    void nothingOfAnInteractionIsKeptBetweenTwoRuns() throws IOException {
        var interview = Agent.named("asks", "Asks back").skill("ask", "Asks", "test");
        String agent = hub(interview.handle((request, reply) -> reply.askForInput("what?")))
                .agentUrl("asks");

        String first = taskId(shell.run("send", "-a", agent, "hello"));
        String second = taskId(shell.run("send", "-a", agent, "hello"));

        assertThat(second).isNotEqualTo(first);
        try (Stream<Path> kept = Files.walk(directory.resolve("work"))) {
            assertThat(kept).containsExactly(directory.resolve("work"));
        }
        assertThat(shell.run("send", "-a", agent, "hello", "--continue").status())
                .isEqualTo(2);
        assertThat(shell.run("task", "get", "-a", agent).status()).isEqualTo(2);
    }

    // ---- Waiting

    @Test
    @Tag("A2ACLI_TASK_POLL_002")
    void pollingKeepsToItsIntervalGetsSlowerAndEndsInTime() {
        ScriptedServer agent = scripted().on("GetTask", task("t1", "WORKING"));

        Shell.Ran ran = shell.run(
                "task", "get", "t1", "--wait", "-a", agent.url(), "--poll-interval", "200ms", "--timeout", "1500ms");

        assertThat(ran.status()).isEqualTo(5);
        assertThat(ran.err()).contains("Task-ID: t1", "A2ACLI_ERR_TIMEOUT");
        // 1500 ms have room for seven pauses of 200 ms, but not if each is half as long again as the one before.
        assertThat(agent.methods()).hasSizeBetween(2, 5).containsOnly("GetTask");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_002")
    void pollingCanBeInterruptedWithoutLosingTheTask() throws Exception {
        String agent = hub(handled(patient().streaming(false))).agentUrl("patient");
        var watched = new Watched("Task-ID: ", "send", "-a", agent, "hello", "--poll-interval", "100ms");

        int status = shell.interruption().signal();
        String told = watched.out.toString(StandardCharsets.UTF_8);
        go.countDown();
        watched.end();

        assertThat(status).isEqualTo(Interruption.BY_SIGNAL);
        assertThat(told).contains("State: TASK_STATE_WORKING").containsPattern("Poll: parley task get --wait \\S+");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_004")
    void aStreamThatIsLostIsFollowedByPollingUntilTheTaskIsSettled() {
        ScriptedServer agent = scripted()
                .onStream("SendStreamingMessage", End.CUT, "{\"task\":" + task("t1", "WORKING") + "}")
                .onError("SubscribeToTask", -32601, "no such method")
                .on("GetTask", task("t1", "WORKING"))
                .on("GetTask", task("t1", "INPUT_REQUIRED"));

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--poll-interval", "100ms");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.err()).contains("polling instead");
        assertThat(ran.out()).contains("State: TASK_STATE_INPUT_REQUIRED");
        assertThat(agent.methods()).containsExactly("SendStreamingMessage", "SubscribeToTask", "GetTask", "GetTask");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_004")
    void aStreamThatEndsInAnErrorIsFollowedByPollingToo() {
        ScriptedServer agent = scripted()
                .onStreamError("SendStreamingMessage", -32603, "broken", "{\"task\":" + task("t1", "WORKING") + "}")
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--poll-interval", "100ms", "-o", "json");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).isEqualTo("{\"task\":" + task("t1", "COMPLETED") + "}\n");
    }

    // ---- Transports

    @Test
    @Tag("A2ACLI_TX_001")
    @Tag("A2ACLI_TX_002")
    void theCardsOrderCountsUnlessTheCallerHasOne() throws IOException {
        String agent = hub(echo()).agentUrl("echo");
        String card = shell.run("card", "get", "-a", agent, "-o", "json").out();
        Files.writeString(
                directory.resolve("work/turned.json"),
                card.replace("JSONRPC", "?").replace("HTTP+JSON", "JSONRPC").replace("?", "HTTP+JSON"));

        assertThat(debugged(agent)).contains("interface JSONRPC 1.0");
        assertThat(debugged("turned.json")).contains("interface HTTP+JSON 1.0");
        String unknown = "https://example.com/binding";
        assertThat(debugged(agent, "--transport", unknown, "--transport", "HTTP+JSON", "--transport", "JSONRPC"))
                .contains("interface HTTP+JSON 1.0");
        assertThat(debugged(agent, "--transport", unknown)).contains("interface JSONRPC 1.0");
    }

    /** Source: A2A specification 1.0, section 5.2. */
    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void anInterfaceThatTheHubDoesNotHaveIsPassedOver(String binding) throws IOException {
        String agent = hub(echo()).agentUrl("echo");
        String gone = agent.replace("/agents/echo", "/agents/gone");
        String card = shell.run("card", "get", "-a", agent, "-o", "json").out();
        String first = "\"supportedInterfaces\":[{\"url\":\"" + gone + "\",\"protocolBinding\":\"" + binding
                + "\",\"protocolVersion\":\"1.0\"},";
        Files.writeString(directory.resolve("work/moved.json"), card.replace("\"supportedInterfaces\":[", first));

        Shell.Ran sent = shell.run("send", "-a", "moved.json", "hello", "--debug");
        Shell.Ran listed = shell.run("task", "list", "-a", "moved.json");

        assertThat(sent.status()).as(sent.err()).isZero();
        assertThat(sent.err()).contains("> POST " + gone, "another interface of the card is tried");
        assertThat(listed.out()).as(listed.err()).contains("Total-Size: 1");
    }

    // ---- Output

    @Test
    @Tag("A2ACLI_OUT_003")
    void linesOfJsonComeWhileTheTaskGoesOn() throws Exception {
        String agent = hub(patientAgent()).agentUrl("patient");

        var watched = new Watched("\"progress\":10", "send", "-a", agent, "hello", "-o", "json", "--stream");
        go.countDown();
        Shell.Ran ran = watched.end();

        assertThat(ran.status()).isZero();
        assertThat(ran.out().lines())
                .allSatisfy(line -> assertThat(line).startsWith("{").endsWith("}"));
        assertThat(ran.out().lines().toList().getLast())
                .startsWith("{\"statusUpdate\":")
                .contains("\"taskId\":", "\"contextId\":", "TASK_STATE_COMPLETED");
    }

    @Test
    @Tag("A2ACLI_OUT_003")
    void anErrorThatEndsTheStreamIsItsLastLine() {
        ScriptedServer agent = scripted()
                .onStreamError("SendStreamingMessage", -32603, "broken", "{\"task\":" + task("t1", "WORKING") + "}");

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "-o", "json", "--stream");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.out().lines().toList()).hasSize(2);
        assertThat(ran.out().lines().toList().getLast())
                .startsWith("{\"error\":{\"code\":\"InternalError\",\"message\":\"broken\"");
    }

    // ---- Credentials

    @Test
    @Tag("A2ACLI_AUTH_001")
    void credentialsGoWhereTheCardSaysFromFlagAndEnvironment() {
        Gate gate = closing(new Gate());
        String agent = gate.url() + "/agents/echo";
        gate.before(hub(echo()).url());

        gate.wants("Authorization", "Bearer " + SECRET, BEARER);
        Shell.Ran none = shell.run("send", "-a", agent, "hello");
        Shell.Ran wrong = shell.run("send", "-a", agent, "hello", "--bearer", "something-else");
        Shell.Ran flag = shell.run("send", "-a", agent, "hello", "--bearer", SECRET);
        Shell.Ran variable = new Shell(directory.resolve("work"))
                .with("A2ACLI_BEARER", SECRET)
                .run("send", "-a", agent, "hello");
        gate.wants("X-My-Key", SECRET, KEY);
        Shell.Ran key = shell.run("send", "-a", agent, "hello", "--api-key", SECRET);
        Shell.Ran keyVariable = new Shell(directory.resolve("work"))
                .with("A2ACLI_API_KEY", SECRET)
                .run("send", "-a", agent, "hello");
        Shell.Ran parameter = shell.run("send", "-a", agent, "hello", "--svc-param", "X-My-Key:" + SECRET);

        assertThat(none.err()).contains("A2ACLI_ERR_CREDENTIALS_MISSING");
        assertThat(wrong.err()).contains("A2ACLI_ERR_AUTH_FAILED");
        assertThat(List.of(none.status(), wrong.status())).containsOnly(4);
        assertThat(List.of(flag, variable, key, keyVariable, parameter)).allSatisfy(ran -> {
            assertThat(ran.status()).as(ran.err()).isZero();
            assertThat(ran.out()).contains("TASK_STATE_COMPLETED");
        });
        assertThat(shell.run("send", "--help").out())
                .containsPattern("--svc-param=K:V *\n? *Service parameter, sent as an HTTP header");
    }

    @Test
    @Tag("A2ACLI_AUTH_002")
    void everyCredentialHasAVariableAndItsFlagWarnsAndWins() {
        String help = shell.run("send", "--help").out()
                + shell.run("task", "push-config", "create", "--help").out();
        ScriptedServer agent = scripted().on("GetTask", task("t1", "COMPLETED"));

        shell.with("A2ACLI_BEARER", "of-the-environment").run("task", "get", "t1", "-a", agent.url());
        shell.run("task", "get", "t1", "-a", agent.url(), "--bearer", "of-the-flag");

        assertThat(agent.asked())
                .extracting(asked -> asked.headers().getFirst("Authorization"))
                .containsExactly("Bearer of-the-environment", "Bearer of-the-flag");
        assertThat(help.replaceAll("\\s+", " "))
                .contains("A flag is visible to other users and in the shell's history: prefer A2ACLI_BEARER")
                .contains("A flag is visible to other users and in the shell's history: prefer A2ACLI_API_KEY")
                .contains("prefer A2ACLI_TOKEN", "prefer A2ACLI_AUTH_CREDENTIALS");
    }

    @Test
    @Tag("A2ACLI_AUTH_003")
    void unverifiedTlsIsNeverSilentLeastOfAllWithCredentials() throws Exception {
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Certificates.selfSigned(chain, key);
        String agent = hub(Hub.builder().tls(chain, key), echo()).agentUrl("echo");

        Shell.Ran refused = shell.run("send", "-a", agent, "hello");
        Shell.Ran unverified = shell.run("send", "-a", agent, "hello", "--insecure");
        Shell.Ran secret = shell.run("send", "-a", agent, "hello", "--insecure", "--bearer", SECRET);
        Shell.Ran variable = new Shell(directory.resolve("work"))
                .with("A2ACLI_INSECURE", "true")
                .run("send", "-a", agent, "hello");

        assertThat(refused.status()).isEqualTo(3);
        assertThat(refused.err()).contains("TLS", "A2ACLI_ERR_UNREACHABLE");
        assertThat(List.of(unverified, secret, variable)).allSatisfy(ran -> {
            assertThat(ran.status()).as(ran.err()).isZero();
            assertThat(ran.err()).contains("Warning: TLS certificates are not verified");
        });
        assertThat(secret.err()).contains("CREDENTIALS ARE SENT WITHOUT VERIFYING WHO RECEIVES THEM");
    }

    @Test
    @DisplayName("N4: --ca and --insecure have an effect on every command that calls a server")
    void authoritiesOfFilesAreTrusted() throws Exception {
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Certificates.selfSigned(chain, key);
        Path other = Files.createDirectory(directory.resolve("other")).resolve("chain.pem");
        Certificates.selfSigned(other, other.resolveSibling("key.pem"));
        Path empty = Files.writeString(directory.resolve("empty.pem"), "none");
        Hub hub = hub(Hub.builder().tls(chain, key), echo());

        for (String command : List.of(
                "send hello -a " + hub.agentUrl("echo"),
                "run -i hello -a " + hub.agentUrl("echo"),
                "card get -a " + hub.agentUrl("echo"),
                "card key fetch " + hub.url(),
                "group list -a " + hub.url(),
                "audit tail -a " + hub.url(),
                "agent list -a " + hub.url(),
                "discover words -a " + hub.url(),
                "gateway list -a " + hub.url(),
                "mcp servers -a " + hub.url(),
                "bench send --warmup 0 --requests 1 --url " + hub.agentUrl("echo"),
                "workflow list -a " + hub.url())) {
            assertThat(shell.run((command + " --ca " + other).split(" ", -1)).err())
                    .as(command)
                    .contains("TLS");
            assertThat(shell.run((command + " --ca " + other + " --ca " + chain).split(" ", -1))
                            .err())
                    .as(command)
                    .doesNotContain("TLS", "--ca");
            assertThat(shell.run((command + " --insecure").split(" ", -1)).err())
                    .as(command)
                    .contains("Warning: TLS certificates are not verified")
                    .doesNotContain("UNREACHABLE");
            Shell.Ran none = shell.run((command + " --ca " + empty).split(" ", -1));
            assertThat(none.err()).as(command).startsWith("Error: invalid --ca: \"" + empty + "\": no certificate");
            assertThat(none.status()).isEqualTo(2);
        }
    }

    // ---- Defaults and configuration

    @Test
    @Tag("A2ACLI_DEFAULT_001")
    void everyDefaultIsAsPromisedAndGivesWayToAFlag() throws Exception {
        Hub hub = hub(echo(), patientAgent());
        String echo = hub.agentUrl("echo");

        assertThat(shell.run("send", "-a", echo, "hi").out())
                .startsWith("Task-ID: ")
                .contains("State: TASK_STATE_COMPLETED")
                .doesNotContain("Message-ID: ");
        assertThat(shell.run("send", "-a", echo, "hi", "-o", "json").out()).startsWith("{\"task\":");
        assertThat(shell.run("send", "-a", hub.agentUrl("patient"), "hi", "--async")
                        .out())
                .doesNotContain("COMPLETED");
        String id = taskId(shell.run("send", "-a", echo, "hi"));
        assertThat(shell.run("task", "get", id, "-a", echo, "--verbose").out()).contains("Message-ID: ");
        assertThat(debugged(echo)).contains("interface JSONRPC 1.0", "> A2A-Version: 1.0");
        assertThat(debugged(echo, "--transport", "HTTP+JSON")).contains("interface HTTP+JSON 1.0");
        assertThat(shell.run("task", "list", "-a", echo, "--a2a-version", "2.0").err())
                .contains("VersionNotSupportedError");
        assertThat(shell.run("send", "--help").out().replaceAll("\\s+", " "))
                .contains("Default: text.", "Default: wait.", "Default: concise.", "Default: verify.")
                .contains("Without it the card's order counts.", "never below 1.0");
    }

    private String debugged(String agent, String... more) {
        var args = new ArrayList<>(List.of("task", "list", "-a", agent, "--debug"));
        args.addAll(List.of(more));
        return shell.run(args.toArray(String[]::new)).err();
    }

    @Test
    @Tag("A2ACLI_CONFIG_002")
    void aFileHoldsWhatBelongsToOneAgent() throws IOException {
        ScriptedServer red = scripted().on("GetTask", task("t1", "COMPLETED"));
        ScriptedServer blue = scripted().on("GetTask", task("t1", "COMPLETED"));
        Path work = directory.resolve("work");
        Files.writeString(work.resolve("red.env"), "A2ACLI_AGENT_CARD=" + red.url() + "\nA2ACLI_BEARER=for-red\n");
        Files.writeString(work.resolve(".env"), "A2ACLI_AGENT_CARD=" + blue.url() + "\nA2ACLI_BEARER=for-blue\n");

        shell.run("task", "get", "t1", "--config", "red.env");
        shell.run("task", "get", "t1");

        assertThat(red.asked()).hasSize(1);
        assertThat(red.asked().getFirst().headers().getFirst("Authorization")).isEqualTo("Bearer for-red");
        assertThat(blue.asked().getFirst().headers().getFirst("Authorization")).isEqualTo("Bearer for-blue");
        assertThat(shell.run("config", "show", "--config", "red.env").out())
                .contains("agent-card: " + red.url() + " (" + work.resolve("red.env") + ")")
                .contains("bearer: [redacted] (" + work.resolve("red.env") + ")");
    }

    // ---- Tier 2

    @Test
    @Tag("A2ACLI_TASK_SUBSCRIBE_001")
    void aSubscriberSeesTheTaskAndThenWhatHappens() throws Exception {
        String agent = hub(patientAgent()).agentUrl("patient");
        String id = taskId(shell.run("send", "-a", agent, "hello", "--async"));

        var watched = new Watched("{\"task\":", "task", "subscribe", id, "-a", agent, "-o", "json", "--stream");
        go.countDown();
        Shell.Ran ran = watched.end();

        assertThat(ran.status()).isZero();
        assertThat(ran.out()).startsWith("{\"task\":{\"id\":\"" + id + "\"");
        assertThat(ran.out().lines().toList().getLast()).contains("statusUpdate", "TASK_STATE_COMPLETED");
    }

    @Test
    @Tag("A2ACLI_TASK_SUBSCRIBE_002")
    void aStreamGoesOnAfterTheConnectionWasLost() throws Exception {
        Gate gate = closing(new Gate());
        gate.before(hub(patientAgent()).url());

        var watched = new Watched(
                "\"progress\":10", "send", "-a", gate.url() + "/agents/patient", "hello", "-o", "json", "--stream");
        gate.cut();
        go.countDown();
        Shell.Ran ran = watched.end();

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out().lines().toList().getLast()).contains("TASK_STATE_COMPLETED");
        assertThat(ran.out()).containsOnlyOnce("\"progress\":10");
        assertThat(gate.asked().getFirst()).contains("SendStreamingMessage");
        assertThat(gate.asked().get(1)).contains("SubscribeToTask");
    }

    @Test
    @Tag("A2ACLI_TASK_SUBSCRIBE_002")
    void aSnapshotAfterTheLossStandsForWhatWasMissed() {
        ScriptedServer agent = scripted()
                .onStream("SubscribeToTask", End.CUT, "{\"task\":" + task("t1", "SUBMITTED") + "}")
                .onStream(
                        "SubscribeToTask",
                        End.CLOSED,
                        "{\"task\":" + task("t1", "WORKING") + "}",
                        status("t1", "COMPLETED"));

        Shell.Ran ran = shell.run("task", "subscribe", "t1", "-a", agent.url(), "-o", "json", "--stream");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out().lines().toList().getLast()).isEqualTo(status("t1", "COMPLETED"));
        // Neither stream has brought an artifact, so the task is read once.
        assertThat(agent.methods()).containsExactly("SubscribeToTask", "SubscribeToTask", "GetTask");
    }

    @Test
    @Tag("A2ACLI_VER_003")
    void whatTheCardDoesNotOfferIsNotAskedFor() {
        ScriptedServer agent = scripted();
        agent.showing(agent.card(false, ""))
                .on("SendMessage", "{\"task\":" + task("t1", "COMPLETED") + "}")
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran sent = shell.run("send", "-a", agent.url(), "hello", "--stream");
        Shell.Ran subscribed = shell.run("task", "subscribe", "t1", "-a", agent.url());
        Shell.Ran webhooks = shell.run("task", "push-config", "list", "t1", "-a", agent.url());
        Shell.Ran extended = shell.run("card", "get", "--extended", "-a", agent.url());

        assertThat(List.of(sent.status(), subscribed.status())).containsOnly(0);
        assertThat(webhooks.err()).contains("PushNotificationNotSupportedError");
        assertThat(extended.err()).contains("UnsupportedOperationError");
        assertThat(List.of(webhooks.status(), extended.status())).containsOnly(1);
        assertThat(agent.methods()).containsExactly("SendMessage", "GetTask");
    }

    @Test
    @Tag("A2ACLI_CONFORM_001")
    void theKitIsRunAgainstTheAgentAndItsSummaryIsTold() throws IOException {
        String agent = hub(echo()).agentUrl("echo");
        Path python = directory.resolve("kit/.venv/bin/python");
        Files.createDirectories(python.getParent());
        Files.writeString(directory.resolve("kit/run_tck.py"), "");
        Files.writeString(python, """
                #!/bin/sh
                echo "$@"
                echo "FAILED tests/test_one.py::test_it[jsonrpc] - because"
                echo "=== 1 failed, 156 passed, 78 skipped in 9.99s ==="
                """);
        assertThat(python.toFile().setExecutable(true)).isTrue();
        String kit = directory.resolve("kit").toString();

        Shell.Ran told = shell.run("conformance", "--tck", kit, "-a", agent);
        Shell.Ran json = shell.run("conformance", "--tck", kit, "-a", agent, "-o", "json", "--fail");

        assertThat(told.status()).as(told.err()).isZero();
        assertThat(told.err()).contains("run_tck.py --sut-host " + agent + " --transport jsonrpc,http_json");
        assertThat(told.out())
                .isEqualTo("Passed: 156\nFailed: 1\nSkipped: 78\nFailure: tests/test_one.py::test_it[jsonrpc]\n");
        assertThat(json.status()).isEqualTo(1);
        assertThat(json.out()).contains("\"passed\":156").hasLineCount(1);
    }

    @Test
    @DisplayName("K6: a kit that cannot run is named with its branch, and the bindings are those of the card or chosen")
    void aKitThatCannotRunIsExplained() throws IOException {
        String agent = hub(echo()).agentUrl("echo");
        Path python = directory.resolve("kit/.venv/bin/python");
        Files.createDirectories(python.getParent());
        Files.writeString(directory.resolve("kit/run_tck.py"), "");
        Files.writeString(python, "#!/bin/sh\necho \"$@\"\necho unrecognized arguments: --sut-host\nexit 2\n");
        assertThat(python.toFile().setExecutable(true)).isTrue();
        String kit = directory.resolve("kit").toString();

        Shell.Ran broken = shell.run("conformance", "--tck", kit, "-a", agent, "--transport", "GRPC");
        Shell.Ran missing = shell.run("conformance", "-a", agent);

        assertThat(broken.status()).isEqualTo(1);
        assertThat(broken.err())
                .contains("--transport grpc --level must")
                .contains("Error: the kit ended with status 2 before it ran a test: unrecognized arguments: --sut-host")
                .contains("git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck")
                .doesNotContain("INTERNAL");
        assertThat(missing.err()).contains("git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck");
    }

    private static Agent echo() {
        return Agent.named("echo", "Says the same")
                .skill("echo", "Says the same", "test")
                .handle((request, reply) -> reply.complete(request.text()));
    }
}
