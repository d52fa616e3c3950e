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
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers to other requests, and answers too many on a connection that is kept. */
@Timeout(30)
class ShiftedAnswersTest {
    @RegisterExtension
    final ClientThreads threads = new ClientThreads();

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

    @ParameterizedTest
    @DisplayName("T4: what comes on an idle connection is no answer to the next request")
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "JSONRPC, HTTP/1.1 200 X~Content-Length: 2~~{}",
                "HTTP+JSON, HTTP/1.1 200 X~Content-Length: 2~~{}",
                "HTTP+JSON, HTTP/1.1 500 X~Content-Length: 0~~",
                "HTTP+JSON, HTTP/1.1 100 X~~",
                "HTTP+JSON, garbage",
                "HTTP+JSON, ~",
                "JSONRPC, HTTP/1.1 200 X~Content-Type: application/json~Content-Length: 9~~{\"jsonrpc",
            })
    void whatComesOnAnIdleConnectionIsNotUsed(String binding, String extra) throws Exception {
        var written = new CopyOnWriteArrayList<CountDownLatch>();
        try (var agent = new TestAgent(binding, (request, connection) -> {
                    var done = new CountDownLatch(1);
                    written.add(done);
                    String text = message(asked(request));
                    connection.write(whole(connection.answering(binding.equals("JSONRPC") ? rpc(text) : text)));
                    try {
                        connection.write(extra.replace('~', '\n'));
                    } finally {
                        done.countDown(); // the client may have closed the connection
                    }
                });
                var client = agent.client()) {
            for (int i = 0; i < 10; i++) {
                assertThat(answer(client, "call" + i)).isEqualTo("call" + i);
                written.getLast().await();
            }
        }
    }

    @ParameterizedTest
    @DisplayName("T4: an answer too many that comes as the next request goes out reaches no other caller")
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void noAnswerReachesAnotherCaller(String binding) throws Exception {
        var callers = new ConcurrentHashMap<Integer, Set<String>>();
        try (var agent = new TestAgent(binding, (request, connection) -> {
                    String text = asked(request);
                    Set<String> before =
                            callers.computeIfAbsent(connection.number, number -> ConcurrentHashMap.<String>newKeySet());
                    boolean isShifted = !before.isEmpty();
                    before.add(text);
                    String body = binding.equals("JSONRPC") ? rpc(message(text)) : message(text);
                    if (isShifted) { // an answer to the request before, which could not be seen in time
                        connection.write(whole(connection.answering(
                                body.replace(text, before.iterator().next()))));
                    }
                    connection.write(whole(connection.answering(body)));
                });
                var client = agent.client()) {
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (String name : List.of("ann", "bob", "cid")) {
                    threads.execute(() -> {
                        CallContext caller = CallContext.of(name, new CallContext.Scope("g", name));
                        for (int i = 0; i < 20; i++) {
                            try {
                                var answer =
                                        (Message) client.call(SendMessage.of(Message.user(Part.text(name))), caller);
                                assertThat(answer.text()).isEqualTo(name);
                            } catch (A2AException refused) {
                                assertThat(refused).hasMessageContaining("another request");
                            }
                        }
                    });
                }
            }
        }
        assertThat(callers.values()).allSatisfy(names -> assertThat(names).hasSize(1));
    }

    @ParameterizedTest
    @DisplayName("T4: an answer too many to the request for the card is no answer to the first call")
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON"})
    void anAnswerTooManyToACardIsNotUsed(String binding) throws Exception {
        try (var server = new RawServer(connection -> {
                    for (Request request = connection.request(); request != null; request = connection.request()) {
                        String card = whole(TestAgent.card("http://" + request.header("Host") + "/agent", binding, "")
                                .replace("\n", ""));
                        String stray = whole(message("stray"));
                        boolean isCard = request.line().startsWith("GET ");
                        String text = message(asked(request));
                        connection.write(
                                isCard
                                        ? card + stray
                                        : whole(connection.answering(binding.equals("JSONRPC") ? rpc(text) : text)));
                    }
                });
                var client = TestAgent.hasty().connect(server.url(""))) {
            assertThat(answer(client, "hello")).isEqualTo("hello");
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
