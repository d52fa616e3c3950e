package dev.parley.client;

import static dev.parley.client.TestAgent.artifact;
import static dev.parley.client.TestAgent.beginStream;
import static dev.parley.client.TestAgent.chunk;
import static dev.parley.client.TestAgent.endStream;
import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.rpcError;
import static dev.parley.client.TestAgent.send;
import static dev.parley.client.TestAgent.status;
import static dev.parley.client.TestAgent.task;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.client.RawServer.Connection;
import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class ResumingStreamTest {
    /** Answers the n-th call of an agent, counting from 1. */
    private interface Turns {
        void answer(int turn, Request request, Connection connection) throws IOException, InterruptedException;
    }

    @Test
    void eventsComeInOrderUntilTheTaskHasEnded() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("SUBMITTED") + "}");
                    send(connection, 3, status("WORKING"));
                    chunk(connection, ": keep-alive\n\n");
                    send(connection, 4, artifact("a"));
                    send(connection, 5, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task SUBMITTED", "WORKING", "artifact a", "COMPLETED");
            assertThat(stream.sequence()).isEqualTo(5);
            assertThat(stream.hasNext()).isFalse();
            assertThat(agent.methods()).containsExactly("SendStreamingMessage");
            assertThat(requireNonNull(agent.calls.peek()).header("Accept")).contains("text/event-stream");
        }
    }

    @Test
    void anEventOfAnotherTaskIsNeverMergedIntoAStream() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("SUBMITTED") + "}");
                    send(connection, 2, artifact("stray").replace("\"t1\"", "\"t2\""));
                    send(connection, 3, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThatThrownBy(() -> seen(stream))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("The stream of task t1 brought an event of task t2");
        }
    }

    @Test
    void anAnswerThatIsAMessageIsTheWholeStream() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(
                            connection,
                            0,
                            "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}");
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("message hi");
        }
    }

    @Test
    void aConnectionThatIsCutGoesOnBehindTheLastEvent() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    switch (turn) {
                        case 1 -> {
                            send(connection, 1, "{\"task\":" + task("SUBMITTED") + "}");
                            send(connection, 2, status("WORKING"));
                            connection.cut();
                        }
                        case 2 -> {
                            send(connection, 3, artifact("a"));
                            chunk(connection, "id: 4\ndata: half of the nex");
                            connection.cut();
                        }
                        default -> {
                            send(connection, 4, artifact("b"));
                            send(connection, 5, status("COMPLETED"));
                            endStream(connection);
                        }
                    }
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream))
                    .containsExactly("task SUBMITTED", "WORKING", "artifact a", "artifact b", "COMPLETED");

            List<Request> calls = List.copyOf(agent.calls);
            assertThat(agent.methods()).containsExactly("SendStreamingMessage", "SubscribeToTask", "SubscribeToTask");
            assertThat(calls.get(1).header("Last-Event-ID")).isEqualTo("2");
            assertThat(calls.get(1).text()).contains("\"id\":\"t1\"");
            assertThat(calls.get(2).header("Last-Event-ID")).isEqualTo("3");
        }
    }

    @Test
    void whatAServerRepeatsAfterACutIsSeenOnce() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    if (turn == 1) {
                        send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                        send(connection, 2, artifact("a"));
                        connection.cut();
                    } else {
                        send(connection, 2, artifact("a"));
                        send(connection, 3, status("COMPLETED"));
                        endStream(connection);
                    }
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "artifact a", "COMPLETED");
        }
    }

    @Test
    void aServerWithoutNumbersShowsTheTaskAgainAfterACut() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 0, turn == 1 ? artifact("a") : status("COMPLETED"));
                    if (turn == 1) {
                        connection.cut();
                    }
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "artifact a", "task WORKING", "COMPLETED");
            assertThat(List.copyOf(agent.calls).get(1).header("Last-Event-ID")).isNull();
        }
    }

    @Test
    void aServerThatCountsPerConnectionLosesNothing() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 2, artifact(turn == 1 ? "a" : "b"));
                    send(connection, 3, turn == 1 ? artifact("c") : status("COMPLETED"));
                    if (turn == 1) {
                        connection.cut();
                    }
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream))
                    .containsExactly(
                            "task WORKING", "artifact a", "artifact c", "task WORKING", "artifact b", "COMPLETED");
        }
    }

    @Test
    void aTaskThatEndedDuringTheCutIsReadAsItStands() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    switch (turn) {
                        case 1 -> {
                            beginStream(connection);
                            send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                            connection.cut();
                        }
                        case 2 -> connection.answer(200, rpcError(-32004, "UNSUPPORTED_OPERATION"));
                        default -> connection.answer(200, rpc(task("COMPLETED")));
                    }
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "task COMPLETED");
            assertThat(agent.methods()).containsExactly("SendStreamingMessage", "SubscribeToTask", "GetTask");
        }
    }

    @Test
    void aTaskThatEndedIsAlsoReadIfTheServerSaysSoTooLateOrNotAtAll() throws Exception {
        for (boolean told : List.of(true, false)) {
            try (var agent = agent((turn, request, connection) -> {
                        if (turn < 3) {
                            beginStream(connection);
                        }
                        switch (turn) {
                            case 1 -> send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                            case 2 -> {
                                if (told) {
                                    chunk(connection, "data: " + rpcError(-32602, "INVALID_PARAMS") + "\n\n");
                                }
                            }
                            default -> connection.answer(200, rpc(task("COMPLETED")));
                        }
                        connection.cut();
                    });
                    var client = agent.client();
                    var stream = client.stream("go")) {
                assertThat(seen(stream)).containsExactly("task WORKING", "task COMPLETED");
                assertThat(agent.methods()).containsExactly("SendStreamingMessage", "SubscribeToTask", "GetTask");
            }
        }
    }

    @Test
    void aStreamThatIsClosedWhileTheTaskWaitsForItsCallerIsOver() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 2, status("INPUT_REQUIRED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "INPUT_REQUIRED");
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void aStreamThatIsCutWhileTheTaskWaitsForItsCallerGoesOn() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    if (turn == 1) {
                        send(connection, 1, "{\"task\":" + task("INPUT_REQUIRED") + "}");
                        connection.cut();
                    } else {
                        send(connection, 2, status("COMPLETED"));
                        endStream(connection);
                    }
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task INPUT_REQUIRED", "COMPLETED");
        }
    }

    @Test
    void aServerThatForgetsToCloseDoesNotHoldUpItsReader() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("COMPLETED") + "}");
                    connection.awaitClose();
                });
                var client =
                        TestAgent.hasty().streamSilence(Duration.ofMillis(200)).connect(agent.origin());
                var stream = client.subscribe("t1")) {
            assertThat(seen(stream)).containsExactly("task COMPLETED");
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void aServerThatFallsSilentIsLeft() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    if (turn == 1) {
                        send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                        connection.awaitClose();
                    } else {
                        send(connection, 2, status("COMPLETED"));
                        endStream(connection);
                    }
                });
                var client =
                        TestAgent.hasty().streamSilence(Duration.ofMillis(200)).connect(agent.origin());
                var stream = client.subscribe("t1")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "COMPLETED");
        }
    }

    @Test
    void aSendThatIsCutBeforeATaskIsNamedIsNotSentAgain() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    connection.reset();
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThatThrownBy(stream::hasNext)
                    .asInstanceOf(type(ClientException.class))
                    .extracting(ClientException::problem)
                    .isEqualTo(Problem.LOST);
            assertThat(agent.calls).hasSize(1);
            assertThat(stream.hasNext()).isFalse();
        }
    }

    @Test
    void resumingIsGivenUpAfterSoManyAttempts() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    if (turn == 1) {
                        beginStream(connection);
                        send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    }
                    connection.cut();
                });
                var client = TestAgent.hasty().reconnects(4).connect(agent.origin());
                var stream = client.stream("go")) {
            assertThat(stream.next()).isInstanceOf(Task.class);
            assertThatThrownBy(stream::hasNext)
                    .asInstanceOf(type(ClientException.class))
                    .satisfies(cut -> {
                        assertThat(cut.problem()).isEqualTo(Problem.STREAM_CUT);
                        assertThat(cut).hasMessageContaining("t1").hasMessageContaining("4 attempts");
                    });
            assertThat(agent.calls).hasSize(5);
        }
    }

    @Test
    void anEventGivesResumingItsPatienceBack() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, turn, turn == 1 ? "{\"task\":" + task("WORKING") + "}" : artifact("a" + turn));
                    if (turn == 10) {
                        send(connection, 11, status("COMPLETED"));
                        endStream(connection);
                    }
                    connection.cut();
                });
                var client = TestAgent.hasty().reconnects(1).connect(agent.origin());
                var stream = client.stream("go")) {
            assertThat(seen(stream)).hasSize(11).endsWith("artifact a10", "COMPLETED");
        }
    }

    @Test
    void aServerThatHasNoTimeNowIsAskedAgain() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    switch (turn) {
                        case 1 -> {
                            beginStream(connection);
                            send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                            connection.cut();
                        }
                        case 2 -> connection.answer(503, "", "Retry-After: 0");
                        case 3 -> connection.answer(502, "<html>", "Content-Type: text/html");
                        default -> {
                            beginStream(connection);
                            send(connection, 2, status("COMPLETED"));
                            endStream(connection);
                        }
                    }
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "COMPLETED");
        }
    }

    @Test
    void anErrorInAStreamComesAfterTheEventsBeforeIt() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    chunk(connection, "data: " + rpcError(-32603, "INTERNAL") + "\n\n");
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(stream.next()).isInstanceOf(Task.class);
            assertThatThrownBy(stream::hasNext)
                    .asInstanceOf(type(A2AException.class))
                    .extracting(A2AException::error)
                    .isEqualTo(A2AError.INTERNAL);
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void aRefusalIsThrownAtOnce() throws Exception {
        try (var agent = agent((turn, request, connection) ->
                        connection.answer(200, rpcError(-32001, "TASK_NOT_FOUND"), "Content-Type: application/json"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.subscribe("nope"))
                    .asInstanceOf(type(A2AException.class))
                    .extracting(A2AException::error)
                    .isEqualTo(A2AError.TASK_NOT_FOUND);
        }
    }

    @Test
    void aRedirectIsNotFollowedByStreamsEither() throws Exception {
        try (var elsewhere = agent((turn, request, connection) -> connection.answer(200, ""));
                var agent = agent(
                        (turn, request, connection) -> connection.answer(307, "", "Location: " + elsewhere.url()));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.subscribe("t1"))
                    .asInstanceOf(type(ClientException.class))
                    .extracting(ClientException::problem)
                    .isEqualTo(Problem.REDIRECTED);
            assertThat(elsewhere.calls).isEmpty();
        }
    }

    @Test
    void anEventThatIsTooLongEndsTheStream() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 2, artifact("x".repeat(5000)));
                    connection.awaitClose();
                });
                var client = TestAgent.hasty().maxEventBytes(1000).connect(agent.origin());
                var stream = client.stream("go")) {
            assertThat(stream.next()).isInstanceOf(Task.class);
            assertThatThrownBy(stream::hasNext)
                    .asInstanceOf(type(ClientException.class))
                    .extracting(ClientException::problem)
                    .isEqualTo(Problem.ANSWER_TOO_LARGE);
        }
    }

    @Test
    void aReaderThatDoesNotReadHoldsUpTheServerAndFillsNoMemory() throws Exception {
        var written = new AtomicLong();
        var stuck = new CountDownLatch(1);
        String large = artifact("x".repeat(100_000));
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    try {
                        for (long i = 2; i < 2_000; i++) { // 200 MB
                            send(connection, i, large);
                            written.incrementAndGet();
                        }
                    } finally {
                        stuck.countDown();
                    }
                });
                var client = agent.client()) {
            var stream = client.stream("go");
            assertThat(stream.next()).isInstanceOf(Task.class);

            assertThat(stuck.await(300, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(written.get()).isLessThan(500); // what the buffers of two sockets hold
            stream.close();
            stuck.await();
        }
    }

    @Test
    void patienceEndsWithNothingAndTheStreamGoesOn() throws Exception {
        var more = new CountDownLatch(1);
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    more.await();
                    send(connection, 2, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = watch(client)) {
            assertThat(stream.next(Duration.ofSeconds(20))).hasSize(1);
            assertThat(stream.next(Duration.ofMillis(20))).isEmpty();
            more.countDown();
            assertThat(stream.next(Duration.ofSeconds(20))).hasSize(1);
            assertThat(stream.next(Duration.ofSeconds(20))).isNull();
        }
    }

    @Test
    void anInterruptedReaderCanReadOn() throws Exception {
        var more = new CountDownLatch(1);
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    more.await();
                    send(connection, 2, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = watch(client)) {
            assertThat(stream.next(Duration.ofSeconds(20))).hasSize(1);
            Thread.currentThread().interrupt();

            assertThatThrownBy(() -> stream.next(Duration.ofSeconds(20))).isInstanceOf(InterruptedException.class);

            more.countDown();
            assertThat(stream.next(Duration.ofSeconds(20)))
                    .extracting(LoggedEvent::sequence)
                    .containsExactly(2L);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingWakesAReaderThatWaits(boolean theClient) throws Exception {
        var left = new CountDownLatch(1);
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 1, "{\"task\":" + task("WORKING") + "}");
                    connection.awaitClose();
                    left.countDown();
                });
                var client = agent.client();
                var stream = watch(client)) {
            assertThat(stream.next(Duration.ofSeconds(20))).hasSize(1);
            Runnable close = theClient ? client::close : stream::close;
            Thread.ofVirtual().start(close);

            assertThat(stream.next(Duration.ofSeconds(20))).isNull();
            left.await();
            close.run();
            assertThat(stream.next(Duration.ofSeconds(20))).isNull();
        }
    }

    @Test
    void aStreamCanBeginBehindAnEventThatWasSeenEarlier() throws Exception {
        try (var agent = agent((turn, request, connection) -> {
                    beginStream(connection);
                    send(connection, 8, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.subscribe("t1", 7)) {
            assertThat(seen(stream)).containsExactly("COMPLETED");
            assertThat(requireNonNull(agent.calls.peek()).header("Last-Event-ID"))
                    .isEqualTo("7");
        }
    }

    @Test
    void aRestServerThatOnlyKnowsGetIsAskedByGet() throws Exception {
        try (var agent = new TestAgent("HTTP+JSON", (request, connection) -> {
                    if (request.line().startsWith("POST ")) {
                        connection.answer(405, "", "Allow: GET");
                    } else {
                        beginStream(connection);
                        chunk(connection, "data: {\"task\":" + task("COMPLETED") + "}\n\n");
                        endStream(connection);
                    }
                });
                var client = agent.client()) {
            for (int i = 0; i < 2; i++) {
                try (var stream = client.subscribe("t1")) {
                    assertThat(seen(stream)).containsExactly("task COMPLETED");
                }
            }

            assertThat(agent.calls)
                    .extracting(Request::line)
                    .containsExactly(
                            "POST /agent/tasks/t1:subscribe HTTP/1.1",
                            "GET /agent/tasks/t1:subscribe HTTP/1.1",
                            "GET /agent/tasks/t1:subscribe HTTP/1.1");
        }
    }

    private static TestAgent agent(Turns turns) throws IOException {
        var turn = new AtomicInteger();
        return new TestAgent((request, connection) -> turns.answer(turn.incrementAndGet(), request, connection));
    }

    private static Feed<LoggedEvent> watch(AgentClient client) {
        return client.watch(SubscribeToTask.of("t1"), CallContext.anonymous());
    }

    private static List<String> seen(TaskStream stream) {
        var seen = new ArrayList<String>();
        stream.forEachRemaining(event -> seen.add(told(event)));
        return seen;
    }

    private static String told(TaskEvent event) {
        return switch (event) {
            case Task task -> "task " + task.state();
            case Message message -> "message " + message.text();
            case TaskStatusUpdateEvent update -> update.status().state().name();
            case TaskArtifactUpdateEvent update ->
                "artifact "
                        + Message.agent(update.artifact().parts().getFirst()).text();
        };
    }
}
