package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands over gRPC, with a hub. */
@Timeout(60)
@Tag("heavy")
class GrpcCommandTest {
    @TempDir
    Path directory;

    private Hub hub;
    private Shell shell;

    @BeforeEach
    void start() {
        hub = Hub.builder()
                .port(0)
                .grpcOnCards(true)
                .inMemory()
                .drain(Duration.ZERO)
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .defaultAgent("counter")
                .start();
        shell = new Shell(directory);
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void messagesGoOverGrpcIfThatIsWanted(String version) {
        Shell.Ran ran = shell.run(
                "send", "-a", hub.url(), "--transport", "grpc", "--a2a-version", version, "--debug", "--stream", "3");

        assertThat(ran.err()).contains("interface GRPC " + version);
        assertThat(ran.out()).contains("TASK_STATE_COMPLETED");
        assertThat(ran.status()).isZero();
    }

    @Test
    void debugShowsWhatGoesOverTheWireWithoutSecrets() {
        Shell.Ran sent = shell.run(
                "send",
                "-a",
                hub.agentUrl("ping"),
                "--transport",
                "grpc",
                "--debug",
                "--svc-param",
                "x-own:a-secret-of-mine",
                "hello");
        Shell.Ran streamed = shell.run("send", "-a", hub.url(), "--transport", "grpc", "--debug", "--stream", "2");
        Shell.Ran listed = shell.run("task", "list", "-a", hub.url(), "--transport", "grpc", "--debug");
        Shell.Ran refused = shell.run("task", "get", "unknown", "-a", hub.url(), "--transport", "grpc", "--debug");

        assertThat(sent.err())
                .contains("> GRPC ")
                .contains("/lf.a2a.v1.A2AService/SendStreamingMessage")
                .contains("\"text\":\"hello\"")
                .contains("> x-own: ")
                .contains("pong: hello")
                .doesNotContain("a-secret-of-mine");
        assertThat(streamed.err())
                .contains("/SendStreamingMessage")
                .contains("< data: {")
                .contains("statusUpdate");
        assertThat(listed.err()).contains("/ListTasks").contains("< grpc-status: OK");
        assertThat(refused.err()).contains("/GetTask").contains("< grpc-status: NOT_FOUND");
    }

    @ParameterizedTest
    @CsvSource({"1.0, ping", "1.0, counter", "0.3, counter"})
    void sendsOverGrpcAreCountedAndTimed(String version, String agent) {
        Shell.Ran ran = shell.run(
                "bench",
                "send",
                "--url",
                hub.agentUrl(agent),
                "--transport",
                "grpc",
                "--a2a-version",
                version,
                "--text",
                "1",
                "--connections",
                "2",
                "--warmup",
                "0",
                "--requests",
                "10",
                "-o",
                "json");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("\"errors\":{}").containsPattern("\"requests\":1[0-9]");
    }

    @Test
    void aLoadOverGrpcThatTheAgentRefusesIsNotBegun() {
        Shell.Ran ran = shell.run(
                "bench", "send", "--agent-url", hub.url(), "--transport", "grpc", "--header", "x-a2a-agent: nobody");

        assertThat(ran.status()).isNotZero();
        assertThat(ran.err()).contains("grpc error");
    }

    @Test
    void whatTheAgentRefusesIsToldAsOverHttp() {
        Shell.Ran overHttp = shell.run("task", "get", "unknown", "-a", hub.url());
        Shell.Ran ran = shell.run("task", "get", "unknown", "-a", hub.url(), "--transport", "grpc");

        assertThat(ran.status()).isEqualTo(overHttp.status()).isNotZero();
        assertThat(ran.err()).isEqualTo(overHttp.err());
    }

    @Test
    void credentialsGoToTheHostOfTheCard() {
        Shell.Ran ran = shell.run(
                "send", "-a", hub.agentUrl("ping"), "--transport", "grpc", "--svc-param", "x-secret:abc", "hello");

        assertThat(ran.out()).contains("pong: hello");
        assertThat(ran.status()).isZero();
    }
}
