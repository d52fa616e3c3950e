package dev.parley.client;

import static dev.parley.client.TestAgent.artifact;
import static dev.parley.client.TestAgent.beginStream;
import static dev.parley.client.TestAgent.chunk;
import static dev.parley.client.TestAgent.endStream;
import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.send;
import static dev.parley.client.TestAgent.status;
import static dev.parley.client.TestAgent.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.WireListener;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Agents that do not keep to the specification in places that a client can do without. */
@Timeout(30)
class LenientClientTest {
    @RegisterExtension
    final ClientThreads threads = new ClientThreads();

    private static String blemished(String more) {
        return task("COMPLETED").replaceFirst("\\}$", ",") + more.replace('\'', '"') + "}";
    }

    @ParameterizedTest
    @DisplayName("C9: a value that does not fit is left out, and the rest of the task is kept")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'artifacts':[{'artifactId':'x','parts':[]},{'artifactId':'y','parts':[{'text':'kept'}]}] | y",
                "'artifacts':[{'artifactId':'x','parts':[{'text':1},{'text':'kept'}]}] | x",
                "'artifacts':[{'artifactId':'x','parts':[{'unheard':'of'},{'text':'kept'}],'name':7}] | x",
                "'artifacts':[{'parts':[{'text':'kept'}]}] | unnamed-1",
                "'artifacts':[7,null,{'artifactId':'z','parts':[{'text':'kept'}],'extensions':{}}] | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}]}],'history':[{'messageId':'m','parts':[]}] | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}]}],'metadata':'none','unheard':[1] | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept','metadata':[]}]}],'history':'none' | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}],'metadata':{'x':NaN,'y':-Infinity}}] | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}],'name':'\\ud800'}] | z",
                "'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}]}],'metadata':{'\\udc00\\ud800':[NaN,'\\ud83d\\ude00']} | z",
                "'artifacts':[{'artifactId':'z','parts':[{'data':NaN},{'text':'kept'}]}] | z",
                "'artifacts':NaN,'artifacts':[{'artifactId':'z','parts':[{'text':'kept'}]}] | z"
            })
    void aBlemishIsLeftOut(String members, String artifact) throws Exception {
        for (String binding : List.of("JSONRPC", "HTTP+JSON")) {
            String answer = "{\"task\":" + blemished(members) + "}";
            var deviations = new CopyOnWriteArrayList<String>();
            try (var agent = new TestAgent(
                            binding,
                            (request, connection) ->
                                    connection.answer(200, binding.equals("JSONRPC") ? rpc(answer) : answer));
                    var client = TestAgent.hasty().listener(noting(deviations)).connect(agent.origin())) {
                Task task = (Task) client.send("go");

                assertThat(task.id()).isEqualTo("t1");
                assertThat(task.artifacts())
                        .singleElement()
                        .satisfies(one -> assertThat(one.artifactId()).isEqualTo(artifact));
                assertThat(task.text()).isEqualTo("kept");
                assertThat(deviations).isNotEmpty();
            }
        }
    }

    private static WireListener noting(List<String> deviations) {
        return new WireListener() {
            @Override
            public void sending(
                    long exchange, String method, String url, Map<String, List<String>> headers, String body) {}

            @Override
            public void received(long exchange, int status, Map<String, List<String>> headers, String body) {}

            @Override
            public void event(long exchange, @Nullable String id, String data) {}

            @Override
            public void retrying(String reason, Duration wait) {}

            @Override
            public void deviation(String what) {
                deviations.add(what);
            }
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[]}",
                "\"message\":{\"role\":7}",
                "\"timestamp\":\"yesterday\"",
                "\"message\":\"done\""
            })
    @DisplayName("C9: of a status its state is enough")
    void aStatusWithABlemishKeepsItsState(String member) throws Exception {
        String answer = "{\"task\":{\"id\":\"t1\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_COMPLETED\","
                + member + "}}}";
        try (var agent = new TestAgent((request, connection) -> connection.answer(200, rpc(answer)));
                var client = agent.client()) {
            assertThat(((Task) client.send("go")).state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    @DisplayName("C9: the error of an answer that cannot be read has the id of its task")
    void theIdOfATaskIsNotLost() throws Exception {
        String answer = "{\"task\":{\"id\":\"t1\",\"contextId\":\"c1\",\"status\":7}}";
        try (var agent = new TestAgent((request, connection) ->
                        connection.answer(200, rpc(answer), "Content-Type: application/json"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("go"))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.metadata()).containsEntry("taskId", "t1"))
                    .hasMessageContaining("status")
                    .hasMessageContaining("(task t1)");
        }
    }

    @Test
    @DisplayName("C9: a stream goes on after an update that cannot be read")
    void anUpdateWithABlemishDoesNotEndAStream() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 0, artifact("a").replaceFirst("\"parts\":\\[.*?]", "\"parts\":[]"));
                    send(connection, 0, artifact("b"));
                    send(connection, 0, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "artifact", "COMPLETED");
        }
    }

    private static List<String> kinds(TaskStream stream) {
        var kinds = new ArrayList<String>();
        while (stream.hasNext()) {
            TaskEvent event = stream.next();
            kinds.add(
                    switch (event) {
                        case Task task -> "task " + task.state().name();
                        case TaskStatusUpdateEvent update ->
                            update.status().state().name();
                        case TaskArtifactUpdateEvent update -> "artifact";
                        default -> "message";
                    });
        }
        return kinds;
    }

    @ParameterizedTest
    @DisplayName("C3: named events, a byte order mark and comments are no messages of a stream")
    @ValueSource(strings = {"event: ping\ndata: {}\n\n", "event: error\ndata: oops\n\n", ": hi\n\n", "retry: 5\n\n"})
    void namedEventsSayNothing(String other) throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    beginStream(connection);
                    chunk(connection, "\ufeff" + other);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    chunk(connection, other);
                    chunk(connection, "event: message\ndata: " + rpc(artifact("a")) + "\n\n" + other);
                    send(connection, 0, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "artifact", "COMPLETED");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void aByteOrderMarkBeforeAnAnswerIsReadOver(String binding) throws Exception {
        String answer = "{\"task\":" + task("COMPLETED") + "}";
        try (var agent = new TestAgent(
                        binding,
                        (request, connection) ->
                                connection.answer(200, "\ufeff" + (binding.equals("JSONRPC") ? rpc(answer) : answer)));
                var client = agent.client()) {
            assertThat(((Task) client.send("go")).id()).isEqualTo("t1");
        }
    }

    @Test
    @DisplayName("a card with a blemish is read without it")
    void aCardWithABlemishIsRead() throws Exception {
        try (var agent = new TestAgent(
                (request, connection) -> connection.answer(200, rpc("{\"task\":" + task("COMPLETED") + "}")))) {
            agent.with("\ufeff"
                    + TestAgent.card(
                            agent.url(), "JSONRPC", "\"documentationUrl\":7,\"unheard\":true,\"provider\":\"me\","));
            try (var client = agent.client()) {
                assertThat(((Task) client.send("go")).id()).isEqualTo("t1");
            }
        }
    }

    @ParameterizedTest
    @DisplayName("C6: a snapshot that is repeated is no event, however often connections end")
    @ValueSource(ints = {4, 12})
    void anEqualSnapshotIsNoEvent(int ends) throws Exception {
        var turns = new AtomicInteger();
        try (var agent = new TestAgent((request, connection) -> {
                    int turn = turns.incrementAndGet();
                    beginStream(connection);
                    send(
                            connection,
                            0,
                            "{\"task\":"
                                    + task(turn > ends ? "COMPLETED" : "WORKING")
                                            .replace(
                                                    "\"}}",
                                                    "\",\"timestamp\":\"2026-01-01T00:00:"
                                                            + String.format("%02dZ\"}}", turn))
                                    + "}");
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "task COMPLETED");
            assertThat(turns.get()).as("with the read of the end").isGreaterThan(ends);
        }
    }

    @Test
    @DisplayName("C6: pauses grow while connections bring nothing new, and are short after progress")
    void pausesGrowWithoutProgress() throws Exception {
        var turns = new AtomicInteger();
        var pauses = new CopyOnWriteArrayList<Duration>();
        WireListener noting = new WireListener() {
            @Override
            public void sending(
                    long exchange, String method, String url, Map<String, List<String>> headers, String body) {}

            @Override
            public void received(long exchange, int status, Map<String, List<String>> headers, String body) {}

            @Override
            public void event(long exchange, @Nullable String id, String data) {}

            @Override
            public void retrying(String reason, Duration wait) {
                pauses.add(wait);
            }
        };
        try (var agent = new TestAgent((request, connection) -> {
                    int turn = turns.incrementAndGet();
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task(turn > 7 ? "COMPLETED" : "WORKING") + "}");
                    endStream(connection);
                });
                var client = AgentClient.builder()
                        .backoff(Duration.ofMillis(2), Duration.ofMillis(64))
                        .listener(noting)
                        .connect(agent.origin());
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).hasSize(2);

            assertThat(pauses).hasSize(7);
            for (int i = 1; i < 6; i++) {
                assertThat(pauses.get(i)).isGreaterThanOrEqualTo(Duration.ofMillis(1L << i));
            }
            assertThat(pauses.getLast()).isGreaterThanOrEqualTo(Duration.ofMillis(32));
        }
    }

    @Test
    @DisplayName("C16: the task is read once after a stream that brought no artifact")
    void theArtifactBehindTheEndOfAStreamIsRead() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    if (request.text().contains("\"GetTask\"")) {
                        connection.answer(
                                200, rpc(blemished("'artifacts':[{'artifactId':'a','parts':[{'text':'result'}]}]")));
                        return;
                    }
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 0, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "artifact", "COMPLETED");
            assertThat(agent.methods()).containsExactly("SendStreamingMessage", "GetTask");
        }
    }

    @Test
    @DisplayName("C16: an artifact after the end in the same stream is shown before the end, without a read")
    void theArtifactBehindTheEndInTheStreamIsShown() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 0, status("COMPLETED"));
                    send(connection, 0, artifact("late"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "artifact", "COMPLETED");
            assertThat(agent.methods()).containsExactly("SendStreamingMessage");
        }
    }

    @Test
    void aStreamMayBeAnsweredWithItsOnlyElement() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                        200, rpc("{\"task\":" + task("COMPLETED") + "}"), "Content-Type: application/json"));
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task COMPLETED");
        }
    }

    @ParameterizedTest
    @DisplayName("C16: a task without an artifact ends its stream as it did, also if it cannot be read")
    @ValueSource(ints = {200, 500})
    void aTaskWithoutArtifactEndsItsStream(int status) throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    if (request.text().contains("\"GetTask\"")) {
                        connection.answer(status, status == 200 ? rpc(task("COMPLETED")) : "broken");
                        return;
                    }
                    beginStream(connection);
                    send(connection, 0, "{\"task\":" + task("WORKING") + "}");
                    send(connection, 0, status("COMPLETED"));
                    endStream(connection);
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            assertThat(kinds(stream)).containsExactly("task WORKING", "COMPLETED");
        }
    }

    @ParameterizedTest
    @DisplayName("C7: an error has the media type and the beginning of an answer that is not one")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "200 | text/html | <html>  \u0007<b>Sign\u202e  in</b> | text/html \"<html> <b>Sign in</b>\"",
                "502 | text/plain; charset=utf-8 | upstream is away | text/plain; charset=utf-8 \"upstream is away\"",
                "500 | application/json | {\"oops\":1} | application/json \"{\"oops\":1}\"",
                "404 | text/plain | 404 page not found | text/plain \"404 page not found\"",
                "200 | application/json | {\"jsonrpc\":\"2.0\",\"result\":[ | application/json",
                "422 | application/json | {\"detail\":[{\"loc\":[\"body\",\"params\",0],\"msg\":\"field required\"}]} | body.params.0: field required",
                "401 | application/json | {\"detail\":\"Not authenticated\"} | Not authenticated",
                "400 | text/plain | `` | no text"
            })
    void errorsHaveTheWordsOfTheAgent(int status, String type, String body, String words) throws Exception {
        for (String binding : List.of("JSONRPC", "HTTP+JSON")) {
            try (var agent = new TestAgent(
                            binding,
                            (request, connection) -> connection.answer(status, body, "Content-Type: " + type));
                    var client = TestAgent.hasty().retries(0).connect(agent.origin())) {
                assertThatThrownBy(() -> client.send("go")).hasMessageContaining(words);
                assertThatThrownBy(() -> client.stream("go").next()).hasMessageContaining(words);
                assertThatThrownBy(() -> client.call(GetTask.of("t"), CallContext.anonymous()))
                        .hasMessageContaining(words);
            }
        }
    }

    @Test
    void onlyTheBeginningOfALongAnswerIsQuoted() throws Exception {
        try (var agent = new TestAgent((request, connection) ->
                        connection.answer(200, "ä".repeat(5_000), "Content-Type: text/plain"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("go")).hasMessageContaining("text/plain \"" + "ä".repeat(200) + "…\"");
        }
    }

    @ParameterizedTest
    @DisplayName("C4: a redirect within the origin is followed once, with the method, the body and the credentials")
    @ValueSource(ints = {307, 308})
    void aRedirectWithinTheOriginIsFollowed(int status) throws Exception {
        for (String location : List.of("/agent/", "http://HOST/agent/")) {
            try (var agent = new TestAgent((request, connection) -> {
                        if (request.line().contains(" /agent ")) {
                            connection.answer(
                                    status, "", "Location: " + location.replace("HOST", request.header("Host")));
                        } else if (request.text().contains("Streaming")) {
                            beginStream(connection);
                            send(connection, 0, "{\"task\":" + task("COMPLETED") + "}");
                            endStream(connection);
                        } else {
                            connection.answer(200, rpc("{\"task\":" + task("COMPLETED") + "}"));
                        }
                    });
                    var client = TestAgent.hasty().header("X-Secret", "s").connect(agent.origin())) {
                assertThat(((Task) client.send("go")).id()).isEqualTo("t1");
                try (var stream = client.stream("go")) {
                    assertThat(stream.next()).isInstanceOf(Task.class);
                }
                assertThat(agent.calls).allSatisfy(call -> {
                    assertThat(call.line()).startsWith("POST ");
                    assertThat(call.header("X-Secret")).isEqualTo("s");
                    assertThat(call.text()).contains("\"jsonrpc\"");
                });
            }
        }
    }

    @ParameterizedTest
    @DisplayName("C4: other redirects are not followed, and their target is in the error")
    @CsvSource({
        "307, http://other.example/agent",
        "308, https://127.0.0.1/agent",
        "302, /elsewhere",
        "303, /elsewhere",
        "301, /elsewhere"
    })
    void otherRedirectsNameTheirTarget(int status, String location) throws Exception {
        try (var agent =
                        new TestAgent((request, connection) -> connection.answer(status, "", "Location: " + location));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("go"))
                    .isInstanceOf(ClientException.class)
                    .hasMessageContaining("points to " + location);
            assertThat(agent.calls).hasSize(1);
        }
    }

    @Test
    void aRedirectInACircleEnds() throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(307, "", "Location: /agent"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("go")).hasMessageContaining("points to /agent");
            assertThat(agent.calls).hasSize(2);
        }
    }

    @Test
    void anErrorOfTheAgentIsItsOwn() throws Exception {
        try (var agent = new TestAgent(
                        (request, connection) -> connection.answer(200, TestAgent.rpcError(-32001, "TASK_NOT_FOUND")));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("go"))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.TASK_NOT_FOUND))
                    .hasMessage("because");
        }
    }
}
