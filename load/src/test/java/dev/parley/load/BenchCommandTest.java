package dev.parley.load;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** Short runs against an agent that is not ours. */
@Timeout(60)
@Tag("heavy")
class BenchCommandTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private LoadedAgent agent;

    @BeforeEach
    void startAgent() throws IOException {
        agent = new LoadedAgent();
    }

    @AfterEach
    void stopAgent() {
        agent.close();
    }

    private int bench(String... arguments) throws InterruptedException {
        var command = new BenchCommand();
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--connections", "3", "--warmup", "0"));
        new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(all.toArray(String[]::new));
        return command.run(
                null,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                false);
    }

    /** Makes a run of a second that succeeds, and returns one of the maps in its report. */
    private Map<?, ?> report(String member, String... arguments) throws InterruptedException {
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--seconds", "1", "-o", "json"));
        assertThat(bench(all.toArray(String[]::new))).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).endsWith("}\n");
        return (Map<?, ?>)
                requireNonNull(Json.read(out.toByteArray(), Map.class).get(member));
    }

    private static long number(Map<?, ?> values, String name) {
        return ((Number) requireNonNull(values.get(name))).longValue();
    }

    private static Object errors(Map<?, ?> values) {
        return requireNonNull(values.get("errors"));
    }

    @Test
    void sendsAreCountedAndTimed() throws InterruptedException {
        Map<?, ?> result = report("result", "send", "--url", agent.url());

        assertThat(errors(result)).isEqualTo(Map.of());
        assertThat(result)
                .asInstanceOf(MAP)
                .containsKeys("requestsPerSecond", "bytesReceived", "clientProcessorPercent");
        assertThat((Map<?, ?>) result.get("latencyMilliseconds"))
                .asInstanceOf(MAP)
                .containsOnlyKeys("p50", "p90", "p95", "p99", "p99.9", "max");
    }

    @Test
    void aReportSaysAllThatIsNeededToRepeatTheRun() throws InterruptedException {
        Map<?, ?> parameters = report("parameters", "send", "--url", agent.url(), "--message-size", "200");

        assertThat(number(parameters, "textCharacters")).isEqualTo(200);
        assertThat(number(parameters, "connections")).isEqualTo(3);
        assertThat((Map<?, ?>) Json.read(out.toByteArray(), Map.class).get("environment"))
                .asInstanceOf(MAP)
                .containsKeys("jdk", "processor", "loadAverage");
    }

    @Test
    void everyMessageHasAnIdOfItsOwn() throws InterruptedException {
        Map<?, ?> result = report("result", "send", "--url", agent.url());

        // The agent refuses an id that it has seen.
        assertThat(errors(result)).isEqualTo(Map.of());
        assertThat(number(result, "requests"))
                .isBetween(1L, (long) agent.messageIds().size());
    }

    @Test
    void streamsAreCountedByTheirEvents() throws InterruptedException {
        Map<?, ?> result = report("result", "stream", "--url", agent.url());

        assertThat(errors(result)).isEqualTo(Map.of());
        assertThat(number(result, "streams")).isPositive();
        assertThat(number(result, "events")).isGreaterThanOrEqualTo(3 * number(result, "streams"));
    }

    @Test
    void tasksAreMadeBeforeTheyAreAskedFor() throws InterruptedException {
        Map<?, ?> result = report("result", "get", "--url", agent.url(), "--tasks", "7", "--text", "a task");

        assertThat(agent.messageIds()).hasSize(7);
        assertThat(errors(result)).isEqualTo(Map.of());
    }

    @Test
    void listsAreAskedForAtAnEndpointWithoutCard() throws InterruptedException {
        Map<?, ?> result = report("result", "list", "--agent-url", agent.url() + "/rpc");

        assertThat(number(result, "requests")).isPositive();
    }

    @Test
    void aRunEndsAfterAsManyRequestsAsWereAskedFor() throws InterruptedException {
        Map<?, ?> result = report("result", "send", "--url", agent.url(), "--requests", "5");

        // Those under way when the number was reached are counted too.
        assertThat(number(result, "requests")).isBetween(5L, 7L);
    }

    @Test
    void failedRequestsAreCountedByKindAndNotAsThroughput() throws InterruptedException {
        int status = bench("send", "--url", agent.url(), "--text", "flaky", "--seconds", "1");

        assertThat(status).isEqualTo(1);
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("Requests: 0\n")
                .containsPattern("Errors: rpc -32603 \\d+\n");
    }

    @Test
    void anAnswerThatDoesNotComeIsATimeout() throws InterruptedException {
        int status = bench("send", "--url", agent.url(), "--text", "stuck", "--seconds", "2", "--timeout", "1");

        assertThat(status).isEqualTo(1);
        assertThat(out.toString(StandardCharsets.UTF_8)).containsPattern("Errors: timeout [36]\n");
    }

    @Test
    void idleStreamsAreHeld() throws InterruptedException {
        Map<?, ?> result = report("result", "stream", "--idle", "--url", agent.url(), "--text", "wait");

        assertThat(number(result, "opened")).isEqualTo(3);
        assertThat(number(result, "held")).isEqualTo(3);
        assertThat(number(result, "events")).isEqualTo(3);
    }

    @Test
    void aStreamThatEndsIsNotHeld() throws InterruptedException {
        Map<?, ?> result = report("result", "stream", "--idle", "--url", agent.url());

        assertThat(number(result, "opened")).isEqualTo(3);
        assertThat(number(result, "held")).isZero();
        assertThat(errors(result)).hasToString("{ended=3}");
    }

    @Test
    void anAgentThatRefusesTheTrialIsNotPutUnderLoad() {
        assertThatThrownBy(() -> bench("send", "--url", agent.url(), "--text", "refused"))
                .isInstanceOf(LoadProblem.class)
                .hasMessageContaining("SendMessage to " + agent.url() + "/rpc fails");
        assertThat(agent.messageIds()).hasSize(1);
    }

    @Test
    void aCardThatPointsElsewhereIsNotFollowed() {
        agent.movedTo("http://192.0.2.1/rpc");

        assertThatThrownBy(() -> bench("send", "--url", agent.url()))
                .isInstanceOf(LoadProblem.class)
                .hasMessageContaining("the same origin");
    }

    @Test
    void whatMakesNoSenseIsSaidBeforeAnythingIsSent() {
        assertThatThrownBy(() -> bench("send", "--url", "ftp://x")).hasMessageContaining("URL: ftp://x");
        assertThatThrownBy(() -> bench("send", "--url", agent.url(), "--idle")).hasMessageContaining("--idle");
        assertThatThrownBy(() -> bench("send", "--url", agent.url(), "--timeout", "0"))
                .hasMessageContaining("timeout: 0 (expected: 1 to 3600)");
        assertThatThrownBy(() -> bench("send", "--url", agent.url(), "--transport", "soap"))
                .hasMessageContaining("--transport: soap");
        assertThatThrownBy(() -> bench("get", "--agent-url", agent.url(), "--transport", "grpc"))
                .hasMessageContaining("--transport grpc goes with send");
    }

    @Test
    void aTransportThatTheCardDoesNotOfferIsAUsageErrorThatSaysWhatToDo() {
        assertThatThrownBy(() -> bench("send", "--url", agent.url(), "--transport", "grpc"))
                .isInstanceOfSatisfying(
                        LoadProblem.class, problem -> assertThat(problem.kind()).isEqualTo(Kind.USAGE))
                .hasMessageContaining("the card offers JSONRPC 1.0 (expected: GRPC)")
                .hasMessageContaining("--agent-url");
    }

    @Test
    void anAddressWithoutAgentIsSaid() {
        String url = agent.url();
        agent.close();

        assertThatThrownBy(() -> bench("send", "--url", url))
                .isInstanceOfSatisfying(
                        LoadProblem.class, problem -> assertThat(problem.kind()).isEqualTo(Kind.UNREACHABLE));
    }
}
