package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.cli.connection.Requests;
import dev.parley.client.AgentClient;
import dev.parley.command.CommandException;
import dev.parley.outbound.http.HttpUrl;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How an agent is found, which credentials it gets, and what is said when it cannot be had. */
@Timeout(60)
@Tag("heavy")
class ConnectionTest {
    private static final String SECRET = "s3cret-t0ken-value";

    @TempDir
    Path directory;

    private ScriptedServer agent;
    private Shell shell;

    @BeforeEach
    void start() {
        agent = new ScriptedServer().on("GetTask", task("t1", "COMPLETED"));
        shell = new Shell(directory);
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private Shell.Ran get(String... more) {
        var args = new java.util.ArrayList<>(List.of("task", "get", "t1"));
        args.addAll(List.of(more));
        return shell.run(args.toArray(String[]::new));
    }

    private static String scheme(String json) {
        return ",\"securitySchemes\":{\"main\":" + json + "},\"securityRequirements\":[{\"schemes\":{\"main\":{}}}]";
    }

    @Test
    @Tag("A2ACLI_CARD_GET_001")
    void anAgentIsNamedByOriginHostCardOrFile() throws IOException {
        Files.writeString(directory.resolve("card.json"), agent.card(true, ""));
        String host = agent.url().replace("http://", "");

        assertThat(List.of(
                        get("-a", agent.url()),
                        get("-a", host),
                        get("-a", agent.url() + "/.well-known/agent-card.json"),
                        get("-a", "card.json"),
                        get("-a", directory.resolve("card.json").toUri().toString())))
                .extracting(Shell.Ran::status)
                .containsOnly(0);
    }

    @Test
    @Tag("A2ACLI_AUTH_004")
    @Tag("A2ACLI_OUT_007")
    void aBearerTokenGoesToTheAgentButNotForTheCard() {
        agent.showing(agent.card(true, scheme("{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}")));

        Shell.Ran ran = shell.with("A2ACLI_BEARER", SECRET).run("task", "get", "t1", "-a", agent.url(), "--debug");

        assertThat(agent.asked().getFirst().headers().getFirst("Authorization")).isEqualTo("Bearer " + SECRET);
        assertThat(ran.err())
                .contains("> POST ")
                .contains("\"method\":\"GetTask\"")
                .doesNotContain(SECRET);
    }

    @Test
    @Tag("A2ACLI_AUTH_001")
    @Tag("A2ACLI_AUTH_004")
    void anApiKeyGoesWhereTheCardSays() {
        for (String location : List.of("header", "query", "cookie")) {
            agent.showing(agent.card(
                    true,
                    scheme("{\"apiKeySecurityScheme\":{\"location\":\"" + location + "\",\"name\":\"x-my-key\"}}")));

            Shell.Ran ran = get("-a", agent.url(), "--api-key", SECRET, "--debug");

            ScriptedServer.Asked asked = agent.asked().getLast();
            String all = asked.headers().getFirst("x-my-key")
                    + asked.query()
                    + asked.headers().getFirst("Cookie");
            assertThat(all).as(location).contains(SECRET);
            assertThat(ran.err()).as(location).doesNotContain(SECRET);
        }
    }

    @Test
    @DisplayName(
            "AV01: an agent of AgentVault is called over plain HTTP on this machine, elsewhere only if that is meant")
    void plainHttpIsForThisMachine() throws IOException {
        String card = """
                {"schemaVersion":"1.0","humanReadableId":"example/bank","agentVersion":"1","name":"bank",
                 "description":"Keeps money","url":"%s","provider":{"name":"Example"},
                 "capabilities":{"a2aVersion":"0.2"},"authSchemes":[{"scheme":"none"}]}""";
        Files.writeString(directory.resolve("there.json"), card.formatted("http://0.0.0.0:1/a2a"));
        Files.writeString(directory.resolve("here.json"), card.formatted("http://127.0.0.1:1/a2a"));

        Shell.Ran refused = get("-a", "there.json");
        Shell.Ran meant = get("-a", "there.json", "--insecure-http");
        Shell.Ran here = get("-a", "here.json");

        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err())
                .contains("the agent speaks AgentVault at http://0.0.0.0:1")
                .contains("PARLEY_ERR_PLAIN_HTTP", "--insecure-http");
        assertThat(List.of(meant, here)).allSatisfy(ran -> {
            assertThat(ran.status()).isEqualTo(3);
            assertThat(ran.err()).contains("refused");
        });
    }

    @Test
    void aCredentialThatTheCardHasNoUseForIsKept() {
        agent.showing(
                agent.card(true, scheme("{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"x-my-key\"}}")));

        Shell.Ran ran = get("-a", agent.url(), "--bearer", SECRET);

        assertThat(ran.err()).contains("the bearer token is not sent");
        assertThat(agent.asked().getFirst().headers().containsKey("Authorization"))
                .isFalse();
    }

    @Test
    @Tag("A2ACLI_AUTH_004")
    void aServiceParameterIsAHeaderAndIsNeverShown() {
        Shell.Ran ran = get("-a", agent.url(), "--svc-param", "X-Trace:" + SECRET, "--debug", "--verbose");

        assertThat(agent.asked().getFirst().headers().getFirst("X-Trace")).isEqualTo(SECRET);
        assertThat(ran.err() + ran.out()).doesNotContain(SECRET).containsIgnoringCase("X-Trace: [redacted]");
    }

    @Test
    void aCardFromElsewhereDoesNotGetMessagesOrCredentials() {
        try (var other = new ScriptedServer().on("GetTask", task("t1", "COMPLETED"))) {
            agent.showing(other.card(true, ""));

            Shell.Ran refused = get("-a", agent.url(), "--bearer", SECRET);
            Shell.Ran without = get("-a", agent.url());
            Shell.Ran allowed = get("-a", agent.url(), "--bearer", SECRET, "--allow-origin", other.url());

            assertThat(refused.status()).isEqualTo(1);
            assertThat(List.of(refused, without)).allSatisfy(ran -> {
                assertThat(ran.status()).isEqualTo(1);
                assertThat(ran.err()).contains("PARLEY_ERR_ORIGIN_NOT_ALLOWED", "--allow-origin " + other.url());
            });
            assertThat(allowed.status()).isZero();
            assertThat(other.asked()).hasSize(1);
        }
    }

    @Test
    @Tag("A2ACLI_EXIT_001")
    void refusedCredentialsAndMissingOnesAreToldApart() {
        agent = new ScriptedServer().onStatus("GetTask", 401);

        Shell.Ran missing = get("-a", agent.url());
        Shell.Ran refused = get("-a", agent.url(), "--bearer", SECRET, "-o", "json");

        assertThat(missing.status()).isEqualTo(4);
        assertThat(missing.err()).contains("A2ACLI_ERR_CREDENTIALS_MISSING").contains("A2ACLI_BEARER");
        assertThat(refused.status()).isEqualTo(4);
        assertThat(refused.out())
                .contains("\"code\":\"A2ACLI_ERR_AUTH_FAILED\"")
                .doesNotContain(SECRET);
    }

    @Test
    @Tag("A2ACLI_EXIT_001")
    @Tag("A2ACLI_OUT_004")
    void nobodyAtTheAddressIsExitStatusThree() throws IOException {
        int free = freePort();

        Shell.Ran ran = get("-a", "http://127.0.0.1:" + free, "-o", "json");

        assertThat(ran.status()).isEqualTo(3);
        assertThat(ran.out())
                .isEqualTo("{\"error\":{\"code\":\"A2ACLI_ERR_UNREACHABLE\",\"message\":\"cannot reach"
                        + " http://127.0.0.1:" + free
                        + ": connection refused\",\"hint\":\"check the address given with -a, and"
                        + " that the agent is running\",\"a2aCode\":null}}\n");
    }

    @Test
    void noCardAndABrokenCardAreToldApart() throws IOException {
        Files.writeString(directory.resolve("broken.json"), "{\"name\":1}");

        Shell.Ran nowhere = get("-a", agent.url() + "/nowhere.json");
        Shell.Ran noFile = get("-a", "./missing.json");
        Shell.Ran broken = get("-a", "broken.json");
        Shell.Ran scheme = get("-a", "htp://127.0.0.1");

        assertThat(nowhere.status()).isEqualTo(3);
        assertThat(nowhere.err()).contains("A2ACLI_ERR_CARD_NOT_FOUND");
        assertThat(noFile.status()).isEqualTo(3);
        assertThat(broken.status()).isEqualTo(1);
        assertThat(broken.err()).contains("A2ACLI_ERR_CARD_INVALID", "broken.json is not an agent card");
        assertThat(scheme.status()).isEqualTo(3);
        assertThat(scheme.err()).contains("\"htp://127.0.0.1\": not the address of an agent (expected: a host,");
    }

    @Test
    void whatIsReadHasToBeThereInTime() {
        var client = AgentClient.builder().callTimeout(Duration.ofMillis(300));
        HttpUrl drip = HttpUrl.of(agent.url() + "/drip.json");

        assertThatThrownBy(() -> Requests.read("hint", () -> client.find(drip)))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("no answer in time from");
    }

    @Test
    void whoRefusesACardIsHeard() {
        agent.refusing(403, "{\"error\":{\"code\":403,\"message\":\"Nobody answers to that Host\"}}");

        assertThat(get("-a", agent.url()))
                .matches(ran -> ran.status() == 4)
                .extracting(Shell.Ran::err)
                .asString()
                .contains("is refused (status 403): Nobody answers to that Host", "if it requires credentials");
    }

    @Test
    void portsThatAreNoneAreTold() {
        String wrong = "http://127.0.0.1:99999";

        assertThat(List.of(
                        get("-a", wrong),
                        get("-a", "127.0.0.1:0"),
                        get("-a", agent.url(), "--allow-origin", wrong),
                        shell.run("send", "-a", wrong, "hello"),
                        shell.run("card", "get", wrong),
                        shell.run("key", "list", "--url", wrong),
                        shell.run("bench", "send", "--url", wrong)))
                .allSatisfy(ran -> {
                    assertThat(ran.status()).as(ran.err()).isEqualTo(2);
                    assertThat(ran.err()).contains(" (expected: a port from 1 to 65535)");
                });
    }

    @Test
    @DisplayName("keys of operators go to other machines by TLS alone")
    void keysOfOperatorsGoByTls() {
        Shell.Ran plain = shell.run("key", "list", "--url", "http://0.0.0.0:1", "--api-key", SECRET);

        assertThat(plain.status()).isEqualTo(2);
        assertThat(plain.err())
                .contains("operators' keys would go to http://0.0.0.0:1 over plain HTTP")
                .contains("https", "--data DIR")
                .doesNotContain(SECRET);
        assertThat(shell.run("key", "list", "--url", "https://0.0.0.0:1").status())
                .isEqualTo(3);
    }

    @Test
    @Tag("A2ACLI_VER_001")
    void aVersionThatTheAgentDoesNotSpeakIsSaidClearly() {
        Shell.Ran asked = get("-a", agent.url(), "--a2a-version", "2.0");
        agent.showing(agent.card(true, "").replace("\"protocolVersion\":\"1.0\"", "\"protocolVersion\":\"3.0\""));
        Shell.Ran old = get("-a", agent.url());

        assertThat(asked.err()).contains("VersionNotSupportedError");
        assertThat(old.err()).contains("VersionNotSupportedError").contains("--a2a-version");
        assertThat(List.of(asked.status(), old.status())).containsOnly(1);
    }

    @Test
    @Tag("A2ACLI_TX_003")
    void theTenantOfTheInterfaceIsRepeatedInEveryRequest() {
        agent.showing(agent.card(true, "").replace("\"protocolBinding\"", "\"tenant\":\"acme\",\"protocolBinding\""));

        get("-a", agent.url());
        shell.run("send", "hello", "-a", agent.url());
        shell.run("task", "cancel", "t1", "-a", agent.url());

        assertThat(agent.asked())
                .hasSizeGreaterThanOrEqualTo(3)
                .allSatisfy(
                        request -> assertThat(request.params().get("tenant")).isEqualTo("acme"));
    }

    @Test
    @Tag("A2ACLI_TX_003")
    void anInterfaceWithoutTenantGetsNone() {
        get("-a", agent.url());
        shell.run("send", "hello", "-a", agent.url());

        assertThat(agent.asked())
                .hasSizeGreaterThanOrEqualTo(2)
                .allSatisfy(
                        request -> assertThat(request.params().get("tenant")).isNull());
    }

    @Test
    @Tag("A2ACLI_OUT_004")
    void anErrorKeepsItsNameAndItsCode() {
        agent = new ScriptedServer().onError("CancelTask", -32002, "Too late");

        Shell.Ran ran = shell.run("task", "cancel", "t1", "-a", agent.url(), "-o", "json");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.out())
                .startsWith("{\"error\":{\"code\":\"TaskNotCancelableError\",\"message\":\"Too late\"")
                .endsWith("\"a2aCode\":-32002}}\n");
    }

    @Test
    void insecureIsNeverSilent() {
        Shell.Ran ran = get("-a", agent.url(), "--insecure", "--bearer", SECRET);

        assertThat(ran.err()).contains("not verified (--insecure)").contains("CREDENTIALS ARE SENT WITHOUT VERIFYING");
    }

    @Test
    void webhooksAreNotAskedForWhereThereAreNone() {
        Shell.Ran ran = shell.run("task", "push-config", "list", "t1", "-a", agent.url());

        assertThat(ran.err()).contains("PushNotificationNotSupportedError");
        assertThat(agent.asked()).isEmpty();
    }

    @Test
    void anInterfaceWhereNobodyIsIsPassedOver() throws IOException {
        int free = freePort();
        String better = "\"supportedInterfaces\":[{\"url\":\"http://127.0.0.1:" + free
                + "/rpc\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.0\"},";
        agent.showing(agent.card(true, "").replace("\"supportedInterfaces\":[", better));

        Shell.Ran open = get("-a", agent.url(), "--debug", "--allow-origin", "http://127.0.0.1:" + free);
        Shell.Ran secret = get("-a", agent.url(), "--bearer", SECRET);

        assertThat(open.status()).isZero();
        assertThat(open.err()).contains("another interface of the card is tried, JSONRPC at ");
        assertThat(secret.status()).isEqualTo(1);
        assertThat(secret.err()).contains("--allow-origin");
        assertThat(agent.methods()).containsExactly("GetTask");
    }

    /** An address of this machine that is not known to be one: plain HTTP to it is like plain HTTP to any machine. */
    private String remote() {
        return agent.url().replace("127.0.0.1", "0.0.0.0");
    }

    @ParameterizedTest
    @CsvSource({
        "send hello --bearer s3cret-t0ken-value",
        "send hello --api-key s3cret-t0ken-value",
        "send hello --svc-param x-key:s3cret-t0ken-value",
        "task get t1 --bearer s3cret-t0ken-value",
        "task list --api-key s3cret-t0ken-value",
        "task cancel t1 --bearer s3cret-t0ken-value",
        "task subscribe t1 --bearer s3cret-t0ken-value",
        "task download t1 --bearer s3cret-t0ken-value",
        "task push-config list t1 --bearer s3cret-t0ken-value",
        "kg query {x} --bearer s3cret-t0ken-value",
        "card get --extended --bearer s3cret-t0ken-value",
        "card get --svc-param x-key:s3cret-t0ken-value"
    })
    void credentialsNeverGoToAnotherMachineOverPlainHttp(String command) {
        agent.showing(agent.card(true, scheme("{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}"))
                .replace("127.0.0.1", "0.0.0.0"));
        var args = new java.util.ArrayList<>(List.of(command.split(" ", -1)));
        args.addAll(List.of("-a", remote()));

        Shell.Ran ran = shell.run(args.toArray(String[]::new));

        assertThat(ran.status()).as(ran.err()).isEqualTo(1);
        assertThat(ran.err())
                .contains("PARLEY_ERR_PLAIN_HTTP", "--insecure-http")
                .doesNotContain(SECRET);
        assertThat(agent.reads()).as("nothing is sent, not even for the card").isZero();
    }

    @Test
    void aCardThatWantsTheKeyInAHeaderOfHttpItselfIsNoFaultOfTheProgram() {
        for (String name : List.of("Host", "Content-Length", "Connection", "a b", "")) {
            agent.showing(agent.card(
                    true, scheme("{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"" + name + "\"}}")));

            Shell.Ran ran = get("-a", agent.url(), "--api-key", SECRET);

            assertThat(ran.status()).as(name + ran.err()).isZero();
            assertThat(ran.err()).doesNotContain(SECRET);
            assertThat(agent.asked().getLast().headers().getFirst("X-Api-Key"))
                    .as("the usual header stands in")
                    .isEqualTo(SECRET);
        }
    }

    @Test
    void keptKeysNeverGoToAnotherMachineOverPlainHttp() throws IOException {
        agent.showing(agent.card(true, scheme("{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}"))
                .replace("127.0.0.1", "0.0.0.0"));
        Files.writeString(directory.resolve("keys.env"), "bank=" + SECRET + "\n");

        Shell.Ran ran = get("-a", remote(), "--keys-file", "keys.env", "--key-service", "bank");

        assertThat(ran.status()).as(ran.err()).isEqualTo(1);
        assertThat(ran.err()).contains("PARLEY_ERR_PLAIN_HTTP");
        assertThat(agent.reads()).isZero();
    }

    @Test
    void plainHttpToAnotherMachineIsWarnedOfAndCredentialsCanBeAllowed() {
        agent.showing(agent.card(true, scheme("{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}"))
                .replace("127.0.0.1", "0.0.0.0"));

        Shell.Ran without = get("-a", remote());
        Shell.Ran allowed = get("-a", remote(), "--bearer", SECRET, "--insecure-http");

        assertThat(without.status()).as(without.err()).isZero();
        assertThat(without.err()).contains("is called over plain HTTP");
        assertThat(allowed.status()).as(allowed.err()).isZero();
        assertThat(allowed.err()).contains("CREDENTIALS ARE SENT TO http://0.0.0.0");
        assertThat(agent.asked().getLast().headers().getFirst("Authorization")).isEqualTo("Bearer " + SECRET);
    }

    @Test
    void aFileThatWasFoundNeverDecidesWhereCredentialsOfTheUserGo() throws IOException {
        Files.writeString(directory.resolve(".env"), "A2ACLI_AGENT_CARD=" + agent.url() + "\n");

        Shell.Ran refused = get("--bearer", SECRET);
        Shell.Ran refusedKey = shell.with(
                        "AGENTVAULT_KEY_LOCALHOST:" + agent.url().replaceFirst(".*:", ""), SECRET)
                .run("task", "get", "t1");
        Shell.Ran without = new Shell(directory).run("task", "get", "t1");
        Shell.Ran named = new Shell(directory).run("task", "get", "t1", "--config", ".env", "--bearer", SECRET);

        assertThat(List.of(refused, refusedKey)).allSatisfy(ran -> {
            assertThat(ran.status()).isEqualTo(1);
            assertThat(ran.err()).contains("a .env file", "--config").doesNotContain(SECRET);
        });
        assertThat(List.of(without, named)).extracting(Shell.Ran::status).containsOnly(0);
    }

    @Test
    @DisplayName("an agent of any age is found by its origin or its own address")
    void agentsThatKeepTheirCardUnderTheOlderNameAreFound() {
        agent.showingOnlyAt("/.well-known/agent.json");

        assertThat(get("-a", agent.url()).status()).isZero();
        assertThat(get("-a", agent.url() + "/rpc").status()).isZero();
    }

    @Test
    void namesOfThisMachineAreOneOrigin() {
        agent.showing(agent.card(true, "").replace("127.0.0.1", "localhost"));

        assertThat(get("-a", agent.url(), "--bearer", SECRET).status()).isZero();
    }

    /** A port at which nobody listens. */
    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
