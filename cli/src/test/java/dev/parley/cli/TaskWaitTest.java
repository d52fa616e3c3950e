package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.task;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.ScriptedServer.End;
import dev.parley.cli.output.Interruption;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Waiting: by stream, by polling, until time is up, until somebody interrupts. */
@Timeout(60)
@Tag("heavy")
class TaskWaitTest {
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

    @Test
    void withoutStreamsATaskIsPolled() {
        agent.showing(agent.card(false, ""))
                .on("SendMessage", "{\"task\":" + task("t1", "SUBMITTED") + "}")
                .on("GetTask", task("t1", "WORKING"))
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--poll-interval", "100ms");

        assertThat(ran.out()).contains("State: TASK_STATE_COMPLETED");
        assertThat(agent.methods()).containsExactly("SendMessage", "GetTask", "GetTask");
    }

    @Test
    void withoutStreamsJsonLinesAreWhatPollingFinds() {
        agent.showing(agent.card(false, ""))
                .on("SendMessage", "{\"task\":" + task("t1", "SUBMITTED") + "}")
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran =
                shell.run("send", "-a", agent.url(), "hello", "--poll-interval", "100ms", "--stream", "-o", "json");

        assertThat(ran.out())
                .isEqualTo("{\"task\":" + task("t1", "SUBMITTED") + "}\n{\"task\":" + task("t1", "COMPLETED") + "}\n");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_003")
    void aStreamThatEndsTooEarlyIsFollowedByPolling() {
        agent.onStream("SendStreamingMessage", End.CUT, "{\"task\":" + task("t1", "WORKING") + "}")
                .onError("SubscribeToTask", -32004, "not now")
                .on("GetTask", task("t1", "INPUT_REQUIRED"));

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--poll-interval", "100ms", "-o", "json");

        assertThat(ran.out()).isEqualTo("{\"task\":" + task("t1", "INPUT_REQUIRED") + "}\n");
        assertThat(ran.status()).isZero();
        assertThat(agent.methods()).startsWith("SendStreamingMessage").endsWith("GetTask");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_003")
    void anUnspecifiedStateEndsNoWait() {
        agent.on("GetTask", task("t1", "UNSPECIFIED"))
                .on("GetTask", task("t1", "UNSPECIFIED"))
                .on("GetTask", task("t1", "COMPLETED"));

        Shell.Ran ran =
                shell.run("task", "get", "t1", "--wait", "-a", agent.url(), "--poll-interval", "100ms", "-o", "json");

        assertThat(ran.out()).contains("TASK_STATE_COMPLETED").doesNotContain("UNSPECIFIED");
        assertThat(ran.status()).isZero();
        assertThat(agent.methods()).containsExactly("GetTask", "GetTask", "GetTask");
    }

    @Test
    @Tag("A2ACLI_TASK_POLL_001")
    void waitingEndsWhenTimeIsUpAndSaysHowToGoOn() {
        agent.on("GetTask", task("t1", "WORKING"));

        Shell.Ran ran = shell.run(
                "task", "get", "t1", "--wait", "-a", agent.url(), "--timeout", "300ms", "--poll-interval", "100ms");

        assertThat(ran.status()).isEqualTo(5);
        assertThat(ran.err())
                .contains("task t1 is still in TASK_STATE_WORKING after 300 ms (A2ACLI_ERR_TIMEOUT)")
                .contains("parley task get --wait t1");
    }

    @Test
    void aSilentStreamEndsWhenTimeIsUp() {
        agent.onStream("SendStreamingMessage", End.STAYS_OPEN, "{\"task\":" + task("t1", "WORKING") + "}");

        Shell.Ran ran = shell.run("send", "-a", agent.url(), "hello", "--timeout", "1s", "-o", "json");

        assertThat(ran.status()).isEqualTo(5);
        assertThat(ran.out())
                .contains("\"code\":\"A2ACLI_ERR_TIMEOUT\"")
                .contains("still in TASK_STATE_WORKING after 1 s")
                .hasLineCount(1);
    }

    @Test
    void aTaskThatEndedMeanwhileCannotBeSubscribedTo() {
        agent.onError("SubscribeToTask", -32004, "it has ended");

        Shell.Ran ran = shell.run("task", "subscribe", "t1", "-a", agent.url());

        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.err()).contains("UnsupportedOperationError").contains("parley task get t1");
    }

    @Test
    void subscribingGivesTheTaskAsItEnded() {
        agent.onStream(
                "SubscribeToTask",
                End.CLOSED,
                "{\"task\":" + task("t1", "WORKING") + "}",
                ScriptedServer.status("t1", "CANCELED"));

        Shell.Ran ran = shell.run("task", "subscribe", "t1", "-a", agent.url(), "-o", "json");

        assertThat(ran.out()).isEqualTo(task("t1", "CANCELED") + "\n");
    }

    @Test
    void aBadPollIntervalIsRefused() {
        agent.on("GetTask", task("t1", "WORKING"));

        Shell.Ran ran = shell.run("task", "get", "t1", "--wait", "-a", agent.url(), "--poll-interval", "1ms");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(shell.run("send", "hello", "-a", agent.url(), "--poll-interval", "1ms")
                        .status())
                .isEqualTo(2);
        assertThat(agent.asked()).isEmpty();
    }

    @Test
    void anInterruptionTellsTheTaskThatGoesOn() throws Exception {
        agent.onStream("SendStreamingMessage", End.STAYS_OPEN, "{\"task\":" + task("t1", "WORKING") + "}");
        var seen = new CountDownLatch(1);
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream() {
            @Override
            public synchronized void write(byte[] bytes, int offset, int length) {
                super.write(bytes, offset, length);
                seen.countDown();
            }
        };
        var command = CompletableFuture.supplyAsync(
                () -> shell.run(out, err, "send", "-a", agent.url(), "hello", "--timeout", "5s"),
                Thread.ofPlatform()::start);
        assertThat(seen.await(30, TimeUnit.SECONDS)).isTrue();

        int status = shell.interruption().signal();

        assertThat(status).isEqualTo(Interruption.BY_SIGNAL);
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("""
                Task-ID: t1
                Context-ID: c1
                State: TASK_STATE_WORKING
                Poll: parley task get --wait t1 --agent-card=%s
                """.formatted(agent.url()));
        assertThat(command.get(30, TimeUnit.SECONDS)).isEqualTo(5);
    }

    @Test
    @Tag("A2ACLI_OUT_005")
    void progressIsForTerminalsAlone() {
        agent.onStream(
                "SendStreamingMessage",
                End.CLOSED,
                "{\"task\":" + task("t1", "WORKING") + "}",
                "{\"statusUpdate\":{\"taskId\":\"t1\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_WORKING\"},"
                        + "\"metadata\":{\"progress\":50}}}",
                ScriptedServer.status("t1", "FAILED"));

        Shell.Ran plain = shell.run("send", "-a", agent.url(), "hello");
        Shell.Ran coloured = shell.atTerminal().run("send", "-a", agent.url(), "hello");
        Shell.Ran uncoloured = shell.with("NO_COLOR", "1").run("send", "-a", agent.url(), "hello");

        assertThat(plain.err()).doesNotContain("\u001b", "\r");
        assertThat(coloured.err()).contains("[##########..........] 50%").contains("\u001b[33mWarning:");
        assertThat(uncoloured.err()).doesNotContain("\u001b[33m");
        assertThat(coloured.out()).isEqualTo(plain.out());
    }
}
