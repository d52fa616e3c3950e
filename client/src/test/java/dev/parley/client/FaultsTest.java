package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.client.RawServer.Connection;
import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SubscribeToTask;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault of an agent at each phase of a call, over both bindings of HTTP: the call ends with an error of the fault, before its time limit,
 * the same client works when the fault is over, and its connections and threads end with it.
 */
@Timeout(120)
class FaultsTest {
    /** Time limit of a call, which no fault may wait for. */
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @RegisterExtension
    final ClientThreads threads = new ClientThreads();

    enum Phase {
        CARD,
        SEND,
        STREAM,
        SUBSCRIBE,
        GET
    }

    /** What the agent does with a request. */
    private interface Fault {
        void on(Request request, Connection connection) throws IOException, InterruptedException;
    }

    record Named(String name, Fault fault) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Named named(String name, Fault fault) {
        return new Named(name, fault);
    }

    private static Named bytes(String name, String text) {
        return named(name, (request, connection) -> {
            connection.write(text);
            connection.cut();
        });
    }

    private static Named body(String type, String body) {
        return named(
                type + " " + (body.length() > 30 ? body.substring(0, 30) : body),
                (request, connection) -> connection.answer(200, body, "Content-Type: " + type));
    }

    /** Statuses that no call takes for a success, with bodies that say nothing, or something else than the status. */
    private static Stream<Named> statuses() {
        IntStream all = IntStream.of(
                300, 304, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 418, 422, 429, 451, 500, 501, 502, 503,
                504, 599);
        return all.mapToObj(status -> named("status " + status, (request, connection) -> {
            if (status == 304) {
                connection.write("HTTP/1.1 304 X\n\n");
            } else {
                connection.answer(status, "{}", "Content-Type: application/json");
            }
        }));
    }

    private static Stream<Named> bodies() {
        return Stream.of(
                body("application/json", ""),
                body("application/json", "null"),
                body("application/json", "[]"),
                body("application/json", "{}"),
                body("application/json", "{"),
                body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":$ID}"),
                body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":null}"),
                body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{}}"),
                body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":7,\"result\":7}"),
                body("application/json", "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":NaN}"),
                body("application/json", "{\"task\":{\"id\":NaN}}"),
                body("application/json", "{\"task\":\"\\ud800\"}"),
                body("application/json", "[".repeat(5_000)),
                body("application/json", "{\"a\":".repeat(5_000)),
                body("application/json", "7 7"),
                body("text/html", "<html><title>Sign in</title></html>"),
                body("text/plain", "ok"),
                body("application/octet-stream", "\0\1\2"),
                body("text/event-stream", "data: {}\n\n"),
                body("text/event-stream", "data: \n\n"),
                body("text/event-stream", "data: <html>\n\n"),
                body("text/event-stream", ""),
                named("no UTF-8", (request, connection) -> {
                    connection.write("HTTP/1.1 200 X\nContent-Type: application/json\nContent-Length: 4\n\n");
                    connection.writeExactly(new byte[] {'"', (byte) 0xff, (byte) 0xfe, '"'});
                }));
    }

    private static Stream<Named> cuts() {
        return Stream.of(
                bytes("no answer", ""),
                bytes("half a status line", "HTTP/1.1 20"),
                bytes("half a head", "HTTP/1.1 200 X\nContent-Ty"),
                bytes("no body", "HTTP/1.1 200 X\nContent-Type: application/json\nContent-Length: 10\n\n"),
                bytes("half a body", "HTTP/1.1 200 X\nContent-Type: application/json\nContent-Length: 10\n\n{\"a\""),
                bytes("half a chunk", "HTTP/1.1 200 X\nTransfer-Encoding: chunked\n\n10\n{\"a\""),
                bytes("no last chunk", "HTTP/1.1 200 X\nTransfer-Encoding: chunked\n\n2\n{}\n"),
                bytes("no chunk", "HTTP/1.1 200 X\nTransfer-Encoding: chunked\n\nxyz\n"),
                bytes("no HTTP", "220 mail.example ESMTP\n"),
                bytes("a negative length", "HTTP/1.1 200 X\nContent-Length: -1\n\n"),
                bytes("half an event", "HTTP/1.1 200 X\nContent-Type: text/event-stream\n\ndata: {\"a"),
                named("a reset", (request, connection) -> connection.reset()));
    }

    static Stream<Arguments> faults() {
        List<Named> faults =
                Stream.of(statuses(), bodies(), cuts()).flatMap(each -> each).toList();
        return Stream.of("JSONRPC", "HTTP+JSON")
                .flatMap(binding -> Stream.of(Phase.values()).map(phase -> Arguments.of(binding, phase, faults)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @DisplayName("each fault ends the call with an error, and only that call")
    @MethodSource("faults")
    void aFaultEndsItsCallOnly(String binding, Phase phase, List<Named> faults) throws Exception {
        var unexpected = new ArrayList<String>();
        for (Named fault : faults) {
            String problem = problem(binding, phase, fault);
            if (problem != null) {
                unexpected.add(fault + ": " + problem);
            }
        }
        assertThat(unexpected).isEmpty();
    }

    private static @Nullable String problem(String binding, Phase phase, Named fault) throws Exception {
        var faulty = new AtomicBoolean(phase != Phase.CARD);
        try (var server = new RawServer(connection -> serve(binding, phase, fault, faulty, connection))) {
            if (phase == Phase.CARD) {
                faulty.set(true);
                Throwable failure = catchThrowable(() -> client(server).close());
                faulty.set(false);
                client(server).close();
                return expected(failure);
            }

            try (AgentClient client = client(server)) {
                Throwable failure = catchThrowable(() -> call(client, phase));
                faulty.set(false);
                Throwable after = catchThrowable(() -> call(client, phase));
                return after != null ? "the next call fails, too: " + after : expected(failure);
            }
        }
    }

    private static AgentClient client(RawServer server) {
        return TestAgent.hasty()
                .retries(0)
                .reconnects(1)
                .callTimeout(LIMIT)
                .sendTimeout(LIMIT)
                .connect(server.url(""));
    }

    /** Returns what is wrong with an error; null for nothing. */
    private static @Nullable String expected(@Nullable Throwable failure) {
        if (failure == null) {
            return "no error";
        }
        if (failure instanceof ClientException end && end.problem() == Problem.TIMED_OUT) {
            return "an end by the time limit";
        }
        boolean isKnown = failure instanceof A2AException || failure instanceof ClientException;
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        return !isKnown || message.isBlank() || message.contains("null") && message.length() < 10
                ? "an error that says nothing: " + failure
                : null;
    }

    private static void call(AgentClient client, Phase phase) throws InterruptedException {
        switch (phase) {
            case CARD -> throw new IllegalArgumentException();
            case SEND -> client.send("go");
            case GET -> client.call(GetTask.of("t1"), CallContext.anonymous());
            case STREAM -> {
                try (TaskStream stream = client.stream("go")) {
                    while (stream.hasNext()) {
                        stream.next();
                    }
                }
            }
            case SUBSCRIBE -> {
                try (Feed<LoggedEvent> events = client.watch(SubscribeToTask.of("t1"), CallContext.anonymous())) {
                    List<LoggedEvent> next = List.of();
                    while (next != null) {
                        next = events.next(LIMIT);
                        assertThat(next).as("events within the time limit").isNotEqualTo(List.of());
                    }
                }
            }
        }
    }

    private static void serve(String binding, Phase phase, Named fault, AtomicBoolean faulty, Connection connection)
            throws IOException, InterruptedException {
        for (Request request = connection.request(); request != null; request = connection.request()) {
            boolean isCard = request.line().startsWith("GET /.well-known/");
            if (isCard && phase != Phase.CARD || isCard && !faulty.get()) {
                String host = "http://" + request.header("Host") + "/agent";
                connection.answer(200, TestAgent.card(host, binding, ""), "Content-Type: application/json");
            } else if (faulty.get()) {
                fault.fault().on(request, connection);
            } else {
                answer(binding, request, connection);
            }
        }
    }

    private static void answer(String binding, Request request, Connection connection) throws IOException {
        boolean isRpc = binding.equals("JSONRPC");
        String all = request.line() + request.text();
        String task = TestAgent.task("COMPLETED")
                .replace("}}", "},\"artifacts\":[{\"artifactId\":\"a\",\"parts\":[{\"text\":\"x\"}]}]}");
        if (all.contains("SendStreamingMessage")
                || all.contains("SubscribeToTask")
                || all.contains(":stream")
                || all.contains(":subscribe")) {
            TestAgent.beginStream(connection);
            String event = "{\"task\":" + task + "}";
            TestAgent.chunk(connection, "data: " + (isRpc ? TestAgent.rpc(event) : event) + "\n\n");
            TestAgent.endStream(connection);
            return;
        }
        String result = all.contains("GetTask") || request.line().startsWith("GET ") ? task : "{\"task\":" + task + "}";
        connection.answer(200, isRpc ? TestAgent.rpc(result) : result, "Content-Type: application/json");
    }
}
