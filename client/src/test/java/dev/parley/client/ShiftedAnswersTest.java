package dev.parley.client;

import static dev.parley.client.TestAgent.beginStream;
import static dev.parley.client.TestAgent.chunk;
import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.task;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.RawServer.Request;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers to other requests, and answers too many on a connection that is kept. */
@Timeout(30)
class ShiftedAnswersTest {
    private static String message(String text) {
        return "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"" + text + "\"}]}}";
    }

    /** The text that a request carries, so that each answer belongs to one request. */
    private static String asked(Request request) {
        return request.text().replaceFirst("(?s).*\"text\":\"(\\w+)\".*", "$1");
    }

    private static String whole(String body) {
        return "HTTP/1.1 200 X\nContent-Type: application/json\nContent-Length: " + body.length() + "\n\n" + body;
    }

    private static String answer(AgentClient client, String text) {
        return ((Message) client.send(text)).text();
    }

    @ParameterizedTest
    @DisplayName("T4: an answer too many, with the one before it or in pieces, is no answer to the next request")
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void anAnswerTooManyIsNotUsed(String binding) throws Exception {
        try (var agent = new TestAgent(binding, (request, connection) -> {
                    String body = connection.answering(
                            binding.equals("JSONRPC") ? rpc(message(asked(request))) : message(asked(request)));
                    connection.write(whole(body) + whole(body.replace(asked(request), "again")));
                });
                var client = agent.client()) {
            for (int i = 0; i < 20; i++) {
                assertThat(answer(client, "call" + i)).isEqualTo("call" + i);
            }
        }
    }

    @Test
    @DisplayName("T4: an answer too many that comes while the next request is under way fails that one only")
    void aLateAnswerTooManyFailsOneCall() throws Exception {
        var connections = new ConcurrentLinkedQueue<Integer>();
        var late = new AtomicInteger();
        try (var agent = new TestAgent((request, connection) -> {
                    connections.add(connection.number);
                    String body = connection.answering(rpc(message(asked(request))));
                    if (asked(request).equals("victim") && late.incrementAndGet() == 1) {
                        connection.write(whole("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":" + message("first") + "}"));
                    }
                    connection.write(whole(body));
                });
                var client = agent.client()) {
            assertThat(answer(client, "first")).isEqualTo("first");
            assertThatThrownBy(() -> client.send("victim"))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE))
                    .hasMessageContaining("the id \"0\" of another request");
            int shifted = requireNonNull(connections.stream().toList().getLast());
            connections.clear();

            for (int i = 0; i < 5; i++) {
                assertThat(answer(client, "call" + i)).isEqualTo("call" + i);
            }
            assertThat(connections).doesNotContain(shifted);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "\"x\"", "null", "-1", "1.5", "\"\""})
    void aResultWithAnotherIdIsRefused(String id) throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                        200, "{\"result\":" + message("hi") + ",\"jsonrpc\":\"2.0\",\"id\":" + id + "}"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("hello"))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE))
                    .hasMessageContaining("of another request");
        }
    }

    @ParameterizedTest
    @DisplayName("an id may be a text, a fraction of zero, or missing")
    @ValueSource(strings = {"\"id\":\"$ID\",", "\"id\":$ID.0,", ""})
    void idsMayBeSpeltOtherwise(String id) throws Exception {
        try (var agent = new TestAgent((request, connection) ->
                        connection.answer(200, "{\"jsonrpc\":\"2.0\"," + id + "\"result\":" + message("hi") + "}"));
                var client = agent.client()) {
            assertThat(answer(client, "hello")).isEqualTo("hi");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 400})
    void anErrorWithoutAnIdIsTheOneOfItsRequest(int status) throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                        status,
                        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"not JSON\"}}"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("hello"))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.PARSE_ERROR))
                    .hasMessage("not JSON");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 400, 500})
    void anErrorWithAnotherIdIsNotShown(int status) throws Exception {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                        status,
                        "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32603,\"message\":\"of another\"}}"));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.send("hello")).hasMessageContaining("of another request");
            assertThatThrownBy(() -> client.stream("hello").next()).hasMessageContaining("of another request");
        }
    }

    @Test
    void anEventWithAnotherIdEndsTheStream() throws Exception {
        try (var agent = new TestAgent((request, connection) -> {
                    beginStream(connection);
                    chunk(connection, "data: " + rpc("{\"task\":" + task("WORKING") + "}") + "\n\n");
                    chunk(connection, "data: " + rpc(message("stray")).replace("$ID", "0") + "\n\n");
                });
                var client = agent.client();
                var stream = client.stream("go")) {
            stream.next();
            assertThatThrownBy(stream::next).hasMessageContaining("of another request");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void anotherTaskThanTheOneThatWasAskedForIsRefused(String binding) throws Exception {
        try (var agent = new TestAgent(
                        binding,
                        (request, connection) -> connection.answer(
                                200, binding.equals("JSONRPC") ? rpc(task("WORKING")) : task("WORKING")));
                var client = agent.client()) {
            assertThatThrownBy(() -> client.call(GetTask.of("t2"), CallContext.anonymous()))
                    .hasMessageContaining("is another task (expected: t2)");
        }
    }
}
