package dev.parley.mcp.client;

import static dev.parley.mcp.client.Faults.LIMIT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.mcp.client.ServerFailure.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults of servers over stdio at each phase: each ends its call long before the time limit, and leaves no thread behind. */
@Timeout(120)
@Tag("heavy")
class StdioFaultsTest {
    /** A server whose answer at one phase is a file, with the id of the request for {@code @ID@}. */
    private static final String SCRIPT = """
            while IFS= read -r line; do
              id=${line#*'"id":'}; id=${id%%,*}
              method=${line#*'"method":"'}; method=${method%%'"'*}
              if [ "$method" = "$PHASE" ]; then
                LC_ALL=C sed "s/@ID@/$id/g" answer
                [ "$AFTER" = exit ] && exit 9
                continue
              fi
              case $method in
                server/discover)
                  if [ "$ERA" = modern ]; then
                    answer='"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}'
                  else
                    answer='"error":{"code":-32601,"message":"unknown"}'
                  fi;;
                initialize)
                  answer='"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}';;
                tools/list) answer='"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';;
                tools/call) answer='"result":{"content":[{"type":"text","text":"answer '$id'"}]}';;
                *) continue;;
              esac
              echo '{"jsonrpc":"2.0","id":'$id','$answer'}'
            done
            """;

    @TempDir
    Path directory;

    @AfterEach
    void noThreads() {
        Leftovers.assertNone();
    }

    private McpClient connected(String era, String phase, String after, Duration limit) throws InterruptedException {
        var program = new StdioTransport.Program(
                "sh",
                List.of("sh", "-c", SCRIPT),
                Map.of("PATH", System.getenv("PATH"), "ERA", era, "PHASE", phase, "AFTER", after),
                directory);
        return McpClient.connect(
                () -> StdioTransport.start(program, line -> {}, () -> {}), new McpClient.Limits(limit, limit), null);
    }

    /** Runs all phases, with an answer of one of them; returns the failure, or null if the answer was taken. */
    private @Nullable Throwable run(String era, String phase, byte[] answer, String after) throws IOException {
        Files.write(directory.resolve("answer"), answer);
        return Faults.failure(() -> {
            try (McpClient client = connected(era, phase, after, LIMIT)) {
                client.tools();
                Faults.call(client, "first", LIMIT);
            }
        });
    }

    private static Map<String, String> answers() {
        var answers = new LinkedHashMap<String, String>();
        for (String value :
                List.of("NaN", "-Infinity", "\"\\ud800\"", "01", "'a'", "\"\\x\"", "[".repeat(2000), "tru", "{")) {
            answers.put(
                    ("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"tools\":[],\"x\":" + value + "}}\n"), "not JSON");
            answers.put(("{\"result\":{\"x\":" + value + "},\"jsonrpc\":\"2.0\",\"id\":\"@ID@\"}\n"), "not JSON");
        }
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{}} {}\n", "not JSON");
        answers.put("[{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{}}]\n", "not JSON");
        answers.put("{\"jsonrpc\":\"2.0\",\"result\":{\"x\":NaN}}\n", "not JSON");
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@}\n", "neither result nor error");
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":7}\n", "neither result nor error");
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"method\":null,\"result\":7}\n", "neither result");
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"error\":\"none\"}\n", "neither result nor error");
        answers.put("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"odd\"}}\n", "odd");
        answers.put("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"odd\"}}\n", "odd");
        return answers;
    }

    @ParameterizedTest
    @CsvSource({
        "modern, tools/list",
        "modern, tools/call",
        "legacy, initialize",
        "legacy, tools/list",
        "legacy, tools/call"
    })
    @DisplayName("C10: an answer that cannot be read ends its call with the reason")
    void malformedAnswers(String era, String phase) throws Exception {
        for (Map.Entry<String, String> each : answers().entrySet()) {
            assertThat(run(era, phase, each.getKey().getBytes(UTF_8), "go on"))
                    .as(phase + " " + each.getKey())
                    .hasMessageContaining(each.getValue());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "modern, tools/list",
        "modern, tools/call",
        "legacy, initialize",
        "legacy, tools/list",
        "legacy, tools/call"
    })
    void blemishesAreForgiven(String era, String phase) throws Exception {
        String result = "\"result\":{\"protocolVersion\":\"2025-11-25\",\"tools\":[],\"content\":[]}}";
        for (String answer : List.of(
                "\ufeff{\"jsonrpc\":\"2.0\",\"id\":@ID@," + result,
                "  {\"jsonrpc\":\"2.0\",\"id\":@ID@," + result + " \r",
                "{\"jsonrpc\":\"2.0\",\"id\":\"@ID@\"," + result,
                "{\"jsonrpc\":\"2.0\",\"id\":@ID@.0," + result,
                "{\"id\":@ID@," + result,
                "starting\n\n{\"level\":\"info\"}\n{\"jsonrpc\":\"2.0\",\"id\":@ID@," + result,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":NaN}\n{\"jsonrpc\":\"2.0\",\"id\":@ID@,"
                        + result,
                "{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":@ID@," + result,
                "{\"jsonrpc\":\"2.0\",\"id\":@ID@," + result
                        + "\n{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"content\":[7]}}")) {
            assertThat(run(era, phase, (answer + "\n").getBytes(UTF_8), "go on"))
                    .as(phase + " " + answer)
                    .isNull();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "modern, server/discover",
        "modern, tools/list",
        "modern, tools/call",
        "legacy, initialize",
        "legacy, tools/list",
        "legacy, tools/call"
    })
    void eachCutEndsTheCall(String era, String phase) throws Exception {
        byte[] whole = "{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"tools\":[]}}\n".getBytes(UTF_8);
        for (int cut = 0; cut < whole.length - 1; cut += 5) {
            assertThat(run(era, phase, Arrays.copyOf(whole, cut), "exit"))
                    .as(phase + " cut at " + cut)
                    .isNotNull();
        }
        assertThat(run(era, phase, new byte[0], "exit")).hasMessageContaining("status 9");
    }

    @ParameterizedTest
    @CsvSource({
        "modern, tools/list",
        "modern, tools/call",
        "legacy, initialize",
        "legacy, tools/list",
        "legacy, tools/call"
    })
    void aSilentServerEndsTheCallAtItsTimeLimit(String era, String phase) throws Exception {
        Files.write(directory.resolve("answer"), "no message\n{\"id\":7}\n".getBytes(UTF_8));
        Duration limit = Duration.ofMillis(700);

        Throwable failure = catchThrowable(() -> {
            try (McpClient client = connected(era, phase, "go on", limit)) {
                client.tools();
                Faults.call(client, "first", limit);
            }
        });

        assertThat(failure)
                .isInstanceOfSatisfying(
                        ServerFailure.class, late -> assertThat(late.kind()).isEqualTo(Kind.TIMEOUT));
    }

    @ParameterizedTest
    @ValueSource(strings = {"modern", "legacy"})
    @DisplayName("T4: an answer for the next call that comes too early is not its answer")
    void extraAnswers(String era) throws Exception {
        String early =
                "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"of another\"}]}}\n";
        Files.writeString(
                directory.resolve("answer"),
                "{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"tools\":[]}}\n" + early.formatted(3)
                        + early.formatted(4) + early.formatted(5) + early.formatted(6));
        try (McpClient client = connected(era, "tools/list", "go on", LIMIT)) {
            client.tools();

            assertThat(Faults.call(client, "first", LIMIT)).contains("answer ").doesNotContain("of another");
            assertThat(Faults.call(client, "first", LIMIT)).contains("answer ").doesNotContain("of another");
        }
    }
}
