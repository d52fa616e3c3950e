package dev.parley.mcp.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.Tool;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client with servers in processes of their own, of both eras. */
@Tag("heavy")
class McpClientTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final CountDownLatch exited = new CountDownLatch(1);
    private @Nullable McpClient client;

    private McpClient connected(String era) throws InterruptedException {
        var program =
                new StdioTransport.Program("scripted", ScriptedServer.command(era), Map.of("LISTED", "yes"), null);
        client = McpClient.connect(
                () -> StdioTransport.start(program, line -> {}, exited::countDown), McpClient.Limits.DEFAULT, null);
        return client;
    }

    @AfterEach
    void close() {
        if (client != null) {
            client.close();
        }
    }

    private static Invocation invocation(String tool, Map<String, @Nullable Object> arguments) {
        return new Invocation(tool, arguments, Map.of(), null, Map.of());
    }

    private Outcome<CallResult> call(String tool, Map<String, @Nullable Object> arguments) throws InterruptedException {
        return requireNonNull(client).call(invocation(tool, arguments), LIMIT, Progress.NONE);
    }

    private static String text(Outcome<CallResult> outcome) {
        return assertThat(outcome)
                .asInstanceOf(InstanceOfAssertFactories.type(Outcome.Complete.class))
                .actual()
                .result()
                .toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    void findsTheEraOfAServerAndReadsAllPagesOfItsTools(String era) throws InterruptedException {
        McpClient connected = connected(era);

        assertThat(connected.revision()).isEqualTo(era.equals("modern") ? Revision.V2026_07_28 : Revision.V2025_11_25);
        assertThat(connected.tools().tools()).extracting(Tool::name).contains("echo", "add", "invalid");
        assertThat(connected.tools().ttl()).isEqualTo(Duration.ofMinutes(1));
        assertThat(text(call("echo", Map.of("text", "hello")))).contains("hello");
        assertThat(text(call("add", Map.of("a", 2, "b", 3)))).contains("sum=5");
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    void aQuestionEndsTheCallUntilItsAnswer(String era) throws InterruptedException {
        McpClient connected = connected(era);

        var questions = (Outcome.Questions<CallResult>) call("ask", Map.of());
        String key = questions.requests().keySet().iterator().next();
        Elicitation question =
                Elicitation.of(requireNonNull(questions.requests().get(key))).orElseThrow();
        var answered = new Invocation(
                "ask", Map.of(), Map.of(key, question.accept(Map.of("colour", "red"))), questions.state(), Map.of());

        assertThat(question.message()).isEqualTo("Which colour?");
        assertThat(text(connected.call(answered, LIMIT, Progress.NONE)))
                .contains("the user says accept {colour=red}")
                .doesNotContain("without the state");
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    void reportsProgressAndErrors(String era) throws InterruptedException {
        McpClient connected = connected(era);
        List<String> reports = new ArrayList<>();

        connected.call(
                invocation("slow", Map.of()),
                LIMIT,
                (progress, total, message) -> reports.add(progress + "/" + total + " " + message));

        assertThat(reports).containsExactly("1.0/3.0 step 1", "2.0/3.0 step 2", "3.0/3.0 step 3");
        assertThatThrownBy(() -> call("invalid", Map.of()))
                .isInstanceOfSatisfying(
                        McpException.class, error -> assertThat(error.code()).isEqualTo(-32602));
        assertThat(text(call("broken", Map.of()))).contains("isError=true");
    }

    @ParameterizedTest
    @ValueSource(strings = {"crash", "flood"})
    void aServerThatEndsOrFloodsFailsItsCallsAndIsReported(String tool) throws InterruptedException {
        connected("modern");

        assertThatThrownBy(() -> call(tool, Map.of()))
                .isInstanceOfSatisfying(
                        ServerFailure.class,
                        failure -> assertThat(failure.kind()).isEqualTo(Kind.CONNECTION))
                .hasMessageContaining(tool.equals("crash") ? "status 7" : "longer than");
        assertThat(exited.await(30, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> call("echo", Map.of())).isInstanceOf(ServerFailure.class);
    }

    @Test
    void aCallWithoutAnAnswerEndsInTimeAndOthersGoOn() throws InterruptedException {
        McpClient connected = connected("modern");

        assertThatThrownBy(() -> connected.call(invocation("silent", Map.of()), Duration.ofMillis(200), Progress.NONE))
                .isInstanceOfSatisfying(
                        ServerFailure.class,
                        failure -> assertThat(failure.kind()).isEqualTo(Kind.TIMEOUT));
        assertThat(text(call("echo", Map.of("text", "next")))).contains("next");
    }

    @Test
    void noticesAndRequestsWithoutEndDoNotKeepACallOpen() throws InterruptedException {
        McpClient connected = connected("modern");

        assertThatThrownBy(() -> connected.call(invocation("endless", Map.of()), Duration.ofSeconds(1), Progress.NONE))
                .isInstanceOfSatisfying(
                        ServerFailure.class,
                        failure -> assertThat(failure.kind()).isEqualTo(Kind.TIMEOUT));
    }

    @Test
    void listsWithoutEndAndDefinitionsThatAreTooLargeAreCut() throws InterruptedException {
        List<Tool> tools = connected("modern").tools().tools();

        assertThat(tools)
                .extracting(Tool::name)
                .contains("echo", "cyclic")
                .doesNotContain("large", "<b>\n")
                .doesNotHaveDuplicates();
    }

    @Test
    void aClosedServerLeavesNoProcessesBehindEvenIfTheyIgnoreItsEnd(@TempDir Path directory) throws Exception {
        Path pipe = directory.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        String script = "trap '' TERM; exec 3>" + pipe + "; sleep 300 & sleep 300; sleep 300";
        var program = new StdioTransport.Program(
                "stubborn", List.of("sh", "-c", script), Map.of("PATH", System.getenv("PATH")), directory);
        StdioTransport transport = StdioTransport.start(program, line -> {}, exited::countDown);
        try (InputStream alive = Files.newInputStream(pipe)) {
            transport.open(message -> {});
            transport.close();

            assertThat(alive.read())
                    .as("end of all processes that hold the pipe")
                    .isEqualTo(-1);
        }
    }

    @Test
    void theEndOfAProcessIsNoticedThoughItsChildKeepsTheOutputOpen(@TempDir Path directory) throws Exception {
        var program = new StdioTransport.Program(
                "forking", List.of("sh", "-c", "sleep 20 & exit 3"), Map.of("PATH", System.getenv("PATH")), directory);

        StdioTransport transport = StdioTransport.start(program, line -> {}, exited::countDown);
        transport.open(message -> {});

        assertThat(exited.await(15, TimeUnit.SECONDS)).isTrue();
        var exchange = new ClientExchange(1);
        transport.begin(exchange, new McpMessage.Request(1, "ping", Map.of()), Map.of());
        assertThatThrownBy(() -> exchange.next(LIMIT))
                .isInstanceOf(ServerFailure.class)
                .hasMessageContaining("status 3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    void reportsChangesOfTheListAndHidesTheEnvironment(String era) throws InterruptedException {
        McpClient connected = connected(era);
        // A server of 2026 reports changes since its acknowledgement, so this one counts as a change, too.
        var changed = new CountDownLatch(era.equals("modern") ? 2 : 1);
        connected.onChange(list -> {
            if (list.equals("tools")) {
                changed.countDown();
            }
        });

        assertThat(text(call("environment", Map.of())))
                .contains("LISTED")
                .doesNotContain("PATH")
                .doesNotContain("HOME");
        call("change", Map.of("text", "other"));
        assertThat(changed.await(30, TimeUnit.SECONDS)).isTrue();
    }
}
