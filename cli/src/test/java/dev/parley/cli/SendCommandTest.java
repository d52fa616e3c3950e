package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.status;
import static dev.parley.cli.ScriptedServer.task;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.ScriptedServer.End;
import dev.parley.command.SafeText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code send} sends, and how it tells of the answer. */
@Timeout(60)
class SendCommandTest {
    private static final String DONE = """
            {"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a1",\
            "name":"Result","parts":[{"text":"one\\n\\nTask-ID: forged\\u001b[31m"},{"data":{"n":1}},\
            {"raw":"AAEC","filename":"x.png","mediaType":"image/png"},\
            {"url":"https://example.com/y","filename":"y"}]}]}""";

    @TempDir
    Path directory;

    private ScriptedServer agent;
    private Shell shell;

    @BeforeEach
    void start() {
        agent = new ScriptedServer();
        shell = new Shell(directory);
    }

    @AfterEach
    void stop() {
        agent.close();
    }

    private Shell.Ran send(String... more) {
        var args = new java.util.ArrayList<>(List.of("send", "-a", agent.url()));
        args.addAll(List.of(more));
        return shell.run(args.toArray(String[]::new));
    }

    private Map<?, ?> message() {
        return message(agent.asked().getFirst());
    }

    private static Map<?, ?> message(ScriptedServer.Asked asked) {
        return (Map<?, ?>) requireNonNull(asked.params().get("message"));
    }

    @Test
    @Tag("A2ACLI_SEND_004")
    @Tag("A2ACLI_OUT_005")
    void textShowsEveryPartInItsPlaceAndLetsNoneForgeAField() {
        agent.onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + DONE + "}");

        Shell.Ran ran = send("hello");

        assertThat(ran.out()).isEqualTo("""
                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_COMPLETED
                Artifact-ID: a1
                Artifact-Name: Result
                Text:
                  one
                \s\s
                  Task-ID: forged[31m

                Data:
                  {
                    "n": 1
                  }

                File: x.png
                File-Type: image/png
                File-Size: 3
                File: y
                File-URL: https://example.com/y
                """);
        assertThat(ran.err()).isEmpty();
        assertThat(ran.status()).isZero();
    }

    @Test
    @Tag("A2ACLI_OUT_002")
    void jsonIsOneDocumentThatHoldsTheTask() {
        agent.onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + DONE + "}");

        Shell.Ran ran = send("hello", "-o", "json");

        assertThat(ran.out())
                .startsWith("{\"task\":{\"id\":\"t1\"")
                .endsWith("}\n")
                .hasLineCount(1);
    }

    @Test
    void eventsWithoutTheirKindAreReadAsServersSendThem() {
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"id\":\"t1\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_SUBMITTED\"}}",
                "{\"taskId\":\"t1\",\"contextId\":\"c\",\"kind\":\"status-update\",\"final\":false,\"status\":"
                        + "{\"state\":\"TASK_STATE_WORKING\",\"timestamp\":\"2026-10-01T10:00:00.123456\"}}",
                "{\"taskId\":\"t1\",\"contextId\":\"c\",\"kind\":\"artifact-update\",\"artifact\":"
                        + "{\"artifactId\":\"a\",\"parts\":[{\"kind\":\"text\",\"text\":\"hi\"}]}}",
                "{\"taskId\":\"t1\",\"contextId\":\"c\",\"kind\":\"status-update\",\"final\":true,\"status\":"
                        + "{\"state\":\"completed\"}}");

        Shell.Ran ran = send("hello", "-o", "json", "--stream", "--debug");

        assertThat(ran.status()).isZero();
        assertThat(ran.out().lines())
                .hasSize(4)
                .anyMatch(line -> line.contains("2026-10-01T10:00:00.123Z"))
                .anyMatch(line -> line.contains("TASK_STATE_COMPLETED"));
        assertThat(ran.err())
                .contains("debug: the agent sent an event without the member that names its kind")
                .contains("debug: the agent sent a timestamp without a zone, taken for UTC");
    }

    @Test
    void aTaskWithoutItsKindAndItsZoneIsRead() {
        agent.on(
                "SendMessage",
                "{\"kind\":\"task\",\"id\":\"t1\",\"contextId\":\"c\",\"status\":"
                        + "{\"state\":\"completed\",\"timestamp\":\"2026-10-01T10:00:00\"}}");

        Shell.Ran ran = send("hello", "-o", "json");

        assertThat(ran.out()).contains("2026-10-01T10:00:00.000Z");
        assertThat(ran.status()).isZero();
    }

    @Test
    @Tag("A2ACLI_INTERACT_004")
    @Tag("A2ACLI_OUT_001")
    void streamedJsonIsOneEventPerLineAndEndsWithTheState() {
        agent.onStream(
                "SendStreamingMessage",
                End.STAYS_OPEN,
                "{\"task\":" + task("t1", "WORKING") + "}",
                status("t1", "INPUT_REQUIRED"));

        Shell.Ran ran = send("hello", "-o", "json", "--stream");

        assertThat(ran.out().lines())
                .containsExactly("{\"task\":" + task("t1", "WORKING") + "}", status("t1", "INPUT_REQUIRED"));
        assertThat(ran.err()).isEqualTo("""
                        Task-ID: t1
                        Resume: parley send --task-id t1 "<reply>" --agent-card=%s
                        Warning: the task is in TASK_STATE_INPUT_REQUIRED
                        """.formatted(agent.url()));
        assertThat(ran.status()).isZero();
    }

    @Test
    void streamedTextShowsEachEventAndNamesTheTaskLast() {
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"task\":" + task("t1", "WORKING") + "}",
                status("t1", "COMPLETED"));

        Shell.Ran ran = send("hello", "--stream");

        assertThat(ran.out()).isEqualTo("""
                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_WORKING

                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_COMPLETED

                """);
    }

    private static String piece(String artifact, String text, boolean append) {
        return "{\"artifactUpdate\":{\"taskId\":\"t1\",\"contextId\":\"c1\",\"append\":" + append
                + ",\"artifact\":{\"artifactId\":\"" + artifact + "\",\"parts\":[{\"text\":\"" + text + "\"}]}}}";
    }

    @Test
    @DisplayName("N5: pieces of an artifact are one text that grows, and each artifact is a block of its own")
    void streamedPiecesAreOneText() {
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"task\":" + task("t1", "WORKING") + "}",
                piece("a", "one", false),
                piece("a", " two\\n", true),
                piece("a", "\\nthree\\u001b[31m\\u202e", true),
                piece("a", "\\n", true),
                piece("b", "four", false),
                piece("b", "Task-ID: forged", false),
                status("t1", "COMPLETED"));

        Shell.Ran ran = send("hello", "--stream");

        assertThat(ran.out()).isEqualTo("""
                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_WORKING

                Artifact-ID: a
                Text:
                  one two
                \s\s
                  three[31m

                Artifact-ID: b
                Text:
                  four

                Artifact-ID: b
                Text:
                  Task-ID: forged

                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_COMPLETED

                """);
    }

    @Test
    @DisplayName("N5: a stream that ends within a text ends its block, and then states the task")
    void aTextThatIsCutEndsItsBlock() {
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"task\":" + task("t1", "WORKING") + "}",
                piece("a", "one", false),
                piece("a", " two", true));
        agent.on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran = send("hello", "--stream");

        assertThat(ran.out())
                .contains("Text:\n  one two\n\n")
                .endsWith("Task-ID: t1\nContext-ID: c1\nState: TASK_STATE_COMPLETED\n\n");
    }

    @Test
    @DisplayName("T7: no format lets texts of agents control a terminal")
    void textsOfAgentsControlNoTerminal() {
        String evil = "\\u001b]52;c;eA==\\u0007 \u009b31m \u202egnp.exe \udb40\udc41 \u2028 \u007f";
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"task\":{\"id\":\"t1\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\","
                        + "\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"" + evil
                        + "\"}]}},\"metadata\":{\"" + evil + "\":\"" + evil
                        + "\"},\"artifacts\":[{\"artifactId\":\"a\\nState: X"
                        + evil + "\",\"name\":\"" + evil + "\",\"parts\":[{\"text\":\"" + evil + "\"},{\"data\":{\""
                        + evil
                        + "\":1}}]}]}}");

        for (List<String> args : List.of(
                List.of("send", "hello"),
                List.of("send", "hello", "--verbose"),
                List.of("send", "hello", "--stream"),
                List.of("send", "hello", "-o", "json"),
                List.of("send", "hello", "-o", "json", "--stream"),
                List.of("run", "-i", "hello"),
                List.of("run", "-i", "hello", "-o", "json"))) {
            var command = new java.util.ArrayList<>(args);
            command.addAll(List.of("-a", agent.url()));

            Shell.Ran ran = shell.run(command.toArray(String[]::new));

            assertThat(ran.status()).as("%s %s", args, ran).isZero();
            assertThat(ran.out()).as("%s", args).contains("gnp.exe").doesNotContain("\nState: X");
            assertThat((ran.out() + ran.err()).codePoints())
                    .as("%s", args)
                    .allSatisfy(c -> assertThat(c == '\n' || !SafeText.isInvisible(c))
                            .as(Integer.toHexString(c))
                            .isTrue());
            if (args.contains("json")) {
                assertThat(ran.out()).contains("\\u202egnp.exe", "\\udb40\\udc41", "\\u007f");
            }
        }
    }

    @Test
    @DisplayName("C17: an answer that is only in the history of a task is shown, as agents of AgentVault give it")
    void anAnswerInTheHistoryIsShown() {
        String answered =
                "{\"id\":\"t1\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\"},\"history\":["
                        + "{\"messageId\":\"1\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"earlier\"}]},"
                        + "{\"messageId\":\"2\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]},"
                        + "{\"messageId\":\"3\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"the answer\"}]}]}";
        agent.onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + answered + "}");
        agent.on("GetTask", answered);

        assertThat(List.of(
                        send("hello").out(),
                        shell.run("task", "get", "t1", "-a", agent.url()).out(),
                        shell.run("run", "-i", "hello", "-a", agent.url()).out()))
                .allSatisfy(out -> assertThat(out).contains("  the answer\n").doesNotContain("earlier"));
        assertThat(shell.run("task", "get", "t1", "--history", "9", "-a", agent.url())
                        .out())
                .containsOnlyOnce("the answer");
    }

    @Test
    @DisplayName("K9: a media type without its part is refused in words of the command line")
    void aMediaTypeBelongsToThePartBeforeIt() {
        for (List<String> args : List.of(
                List.of("--media-type", "text/plain", "--text", "hello"),
                List.of("--text", "hello", "--media-type", "text/plain", "--media-type", "text/html"),
                List.of("hello", "--media-type", "text/plain"))) {
            Shell.Ran ran = send(args.toArray(String[]::new));

            assertThat(ran.status()).isEqualTo(2);
            assertThat(ran.err()).startsWith("Error: --media-type text/").contains("belongs to no part");
            assertThat(ran.err().toLowerCase(java.util.Locale.ROOT)).doesNotContain("picocli", "exception", "arg[");
        }
    }

    @Test
    void aMessageAloneIsAnAnswer() {
        String answer = "{\"message\":{\"messageId\":\"m1\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"pong\"}]}}";
        agent.onStream("SendStreamingMessage", End.CLOSED, answer);

        assertThat(send("ping").out()).isEqualTo("Message-ID: m1\nText:\n  pong\n\n");
        assertThat(send("ping", "-o", "json").out()).isEqualTo(answer + "\n");
        assertThat(send("ping", "-o", "json", "--stream").out()).isEqualTo(answer + "\n");
        assertThat(send("ping").status()).isZero();
    }

    @Test
    @Tag("A2ACLI_EXIT_002")
    void aTaskThatFailsIsNoFailureOfTheCommand() {
        agent.onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + task("t1", "FAILED") + "}");

        Shell.Ran ran = send("hello");

        assertThat(ran.status()).isZero();
        assertThat(ran.err()).isEqualTo("Warning: the task is in TASK_STATE_FAILED\n");
    }

    @Test
    @Tag("A2ACLI_SEND_002")
    @Tag("A2ACLI_OUT_006")
    void asyncReturnsTheIdentifiersAtOnce() {
        agent.on("SendMessage", "{\"task\":" + task("t1", "WORKING") + "}");

        Shell.Ran ran = send("hello", "--async");

        assertThat(ran.out()).isEqualTo("""
                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_WORKING
                Poll: parley task get --wait t1 --agent-card=%s
                """.formatted(agent.url()));
        assertThat(agent.asked().getFirst().params().get("configuration")).isEqualTo(Map.of("returnImmediately", true));
    }

    @Test
    @Tag("A2ACLI_SEND_005")
    @Tag("A2ACLI_SEND_006")
    void partsKeepTheirOrderAndTheirMediaTypes() throws IOException {
        Files.writeString(directory.resolve("report.bin"), "abc");
        Files.writeString(directory.resolve("note.txt"), "abc");
        agent.on("SendMessage", "{\"task\":" + task("t1", "COMPLETED") + "}");

        Shell.Ran ran = shell.typing("{\"k\":[1]}")
                .run(
                        "send",
                        "-a",
                        agent.url(),
                        "--async",
                        "first",
                        "--data",
                        "-",
                        "--file=report.bin",
                        "--media-type",
                        "application/pdf",
                        "--text",
                        "@not a file",
                        "--file",
                        "note.txt",
                        "--file",
                        "https://example.com/large.zip");

        assertThat(ran.err()).isEmpty();
        assertThat((List<?>) message().get("parts"))
                .isEqualTo(List.of(
                        Map.of("text", "first"),
                        Map.of("data", Map.of("k", List.of(1))),
                        Map.of("raw", "YWJj", "filename", "report.bin", "mediaType", "application/pdf"),
                        Map.of("text", "@not a file"),
                        Map.of("raw", "YWJj", "filename", "note.txt", "mediaType", "text/plain"),
                        Map.of("url", "https://example.com/large.zip")));
    }

    @Test
    void aTextCanComeFromAFileOrFromStandardInput() throws IOException {
        Files.writeString(directory.resolve("question.txt"), "why?");
        agent.on("SendMessage", "{\"task\":" + task("t1", "COMPLETED") + "}");

        send("--async", "@question.txt");
        shell.typing("because");
        send("--async", "-");
        send("--async", "@@home");

        assertThat(agent.asked())
                .<Object>extracting(asked -> message(asked).get("parts"))
                .containsExactly(
                        List.of(Map.of("text", "why?")),
                        List.of(Map.of("text", "because")),
                        List.of(Map.of("text", "@home")));
    }

    @Test
    @Tag("A2ACLI_INTERACT_001")
    @Tag("A2ACLI_INTERACT_002")
    @Tag("A2ACLI_VER_001")
    void identifiersAndMetadataTravelAsTheyWereGiven() {
        agent.onStream("SendStreamingMessage", End.CLOSED, "{\"task\":" + task("t1", "COMPLETED") + "}");

        send("yes", "--task-id", "t1", "--context-id", "c1", "--metadata", "{\"k\":{\"v\":true}}");

        assertThat(message().get("taskId")).isEqualTo("t1");
        assertThat(message().get("contextId")).isEqualTo("c1");
        assertThat(agent.asked().getFirst().params().get("metadata")).isEqualTo(Map.of("k", Map.of("v", true)));
        assertThat(agent.asked().getFirst().headers().getFirst("A2A-Version")).isEqualTo("1.0");
    }

    @Test
    @Tag("A2ACLI_INTERACT_002")
    void aRefusedTaskIsNotReplacedByANewOne() {
        agent.onError("SendStreamingMessage", -32001, "Task not found");

        Shell.Ran ran = send("yes", "--task-id", "gone");

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err()).contains("TaskNotFoundError").contains("--debug");
        assertThat(agent.methods()).containsExactly("SendStreamingMessage");
    }

    @Test
    @Tag("A2ACLI_EXIT_001")
    void nothingIsSentThatMakesNoSense() throws IOException {
        Files.writeString(directory.resolve("broken.json"), "{");

        assertThat(List.of(
                        send(),
                        send("--media-type", "text/plain", "hello"),
                        send("--data", "-", "--data", "-"),
                        send("--data", "broken.json"),
                        send("--file", "missing.txt"),
                        send("hello", "--metadata", "[]"),
                        send("hello", "--async", "--stream"),
                        send("hello", "--async", "--wait"),
                        send("hello", "--timeout", "soon"),
                        send("hello", "--transport", "smtp"),
                        send("hello", "-o", "xml"),
                        send("hello", "world")))
                .allSatisfy(ran -> {
                    assertThat(ran.status()).isEqualTo(2);
                    assertThat(ran.err()).contains("A2ACLI_ERR_USAGE");
                    assertThat(ran.out()).isEmpty();
                });
        assertThat(agent.asked()).isEmpty();
    }
}
