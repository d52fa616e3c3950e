package dev.parley.mcp.client;

import static dev.parley.mcp.client.Faults.LIMIT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.mcp.McpException;
import dev.parley.mcp.client.RawServer.After;
import dev.parley.mcp.client.RawServer.Answer;
import dev.parley.mcp.client.RawServer.Request;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.outbound.http.Http1Client;
import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Faults of servers over HTTP at each phase: each ends its call with an error in the words of the server long before the time limit,
 * leaves no thread behind, and no answer goes to another call.
 */
@Timeout(120)
@Tag("heavy")
class HttpFaultsTest {
    private final HttpClient http = Http1Client.of(Duration.ofSeconds(10), null);
    private @Nullable RawServer server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        http.shutdownNow();
        Leftovers.assertNone();
    }

    private RawServer server(boolean isModern) throws IOException {
        server = new RawServer(isModern);
        return server;
    }

    private McpClient connected(Duration limit) throws InterruptedException {
        RawServer raw = requireNonNull(server);
        return McpClient.connect(
                () -> new HttpTransport(raw.url(), http, Map.of("X-Key", "secret"), McpCredentials.NONE, limit),
                new McpClient.Limits(limit, limit),
                null);
    }

    private static String call(McpClient client, String text) throws InterruptedException {
        return Faults.call(client, text, LIMIT);
    }

    /** Runs all phases, with a fault at one of them; returns the failure, or null if the fault was forgiven. */
    private @Nullable Throwable run(String phase, Function<Request, Answer> fault) {
        RawServer raw = requireNonNull(server);
        return Faults.failure(() -> {
            raw.fault = request -> request.method().equals(phase) ? fault.apply(request) : null;
            try (McpClient client = connected(LIMIT)) {
                client.tools();
                call(client, "first");
            } finally {
                raw.fault = request -> null;
            }
        });
    }

    /** After a fault, each call gets its own answer. */
    private void assertThatCallsGetTheirOwnAnswers() throws InterruptedException {
        try (McpClient client = connected(LIMIT)) {
            for (String text : List.of("second", "third", "fourth")) {
                assertThat(call(client, text)).contains("answer to " + text);
            }
        }
        assertThat(requireNonNull(server).shifted).isEmpty();
    }

    static Stream<Arguments> phases() {
        return Stream.of(
                Arguments.of(true, "server/discover"),
                Arguments.of(true, "tools/list"),
                Arguments.of(true, "tools/call"),
                Arguments.of(false, "server/discover"),
                Arguments.of(false, "initialize"),
                Arguments.of(false, "notifications/initialized"),
                Arguments.of(false, "tools/list"),
                Arguments.of(false, "tools/call"));
    }

    private static boolean isSought(String phase) {
        return phase.equals("server/discover");
    }

    @ParameterizedTest
    @MethodSource("phases")
    @DisplayName("ONE23, C1, C4: each status ends the call with the words of the server")
    void statuses(boolean isModern, String phase) throws Exception {
        server(isModern);
        int[] statuses = IntStream.concat(
                        IntStream.of(201, 202, 206, 300, 301, 302, 303, 305, 307, 308, 599),
                        IntStream.concat(IntStream.range(400, 432), IntStream.range(500, 512)))
                .filter(status -> status != 407) // of proxies
                .toArray();
        for (int status : statuses) {
            Throwable failure = run(
                    phase,
                    request -> RawServer.whole(status, "text/html", "<h1>upstream\nis down</h1>".getBytes(UTF_8)));

            boolean isForgiven = isSought(phase) && status / 100 == 4 && !isModern && status != 401 && status != 403
                    || phase.startsWith("notifications/") && status / 100 == 2;
            if (isForgiven) {
                assertThat(failure).as(phase + " " + status).isNull();
            } else if (!isSought(phase) || !isModern) {
                assertThat(failure)
                        .as(phase + " " + status)
                        .hasMessageContaining("status " + status)
                        .hasMessageContaining("text/html")
                        .hasMessageContaining("<h1>upstream is down</h1>");
            } else {
                assertThat(failure).as(phase + " " + status).isNotNull();
            }
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    @ParameterizedTest
    @MethodSource("phases")
    @DisplayName("C1: an error without an id, or with one that is not a number, is the error of its request")
    void errorsOfRequestsThatTheServerCouldNotRead(boolean isModern, String phase) throws Exception {
        server(isModern);
        for (int status : List.of(200, 400, 403, 422, 500)) {
            for (String id : List.of("null", "\"server-error\"", "\"\"")) {
                String body = RawServer.error(id, -32011, "the body is odd");
                Throwable failure = run(phase, request -> RawServer.json(status, body.replace("\"id\":null,", "")));

                boolean isRead = !isSought(phase) && !phase.startsWith("notifications/");
                if (isRead && (status != 200 || id.equals("null"))) {
                    assertThat(failure)
                            .as(phase + " " + status + " " + id)
                            .isInstanceOf(McpException.class)
                            .hasMessage("the body is odd");
                } else if (isRead) {
                    assertThat(failure).hasMessageContaining("id");
                }
            }
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    /** Bodies with status 200, with words of the error. */
    private static Map<String, String> bodies() {
        var bodies = new LinkedHashMap<String, String>();
        bodies.put("", "status 200");
        for (String text : List.of(
                "null",
                "7",
                "\"text\"",
                "[]",
                "[7]",
                "{}",
                "<html>sign in</html>",
                "OK",
                "{\"id\":@ID@}",
                "{\"a\":",
                "{")) {
            bodies.put(text, "status 200");
        }
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@}", "neither result nor error");
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":7}", "neither result nor error");
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"error\":\"none\"}", "neither result nor error");
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"method\":7,\"params\":{}}", "neither result");
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{\"tools\":[]}}", "987654");
        bodies.put("{\"jsonrpc\":\"2.0\",\"result\":{\"tools\":[]}}", "id");
        bodies.put("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}", "status 200");
        for (String value :
                List.of("NaN", "Infinity", "\"\\ud800\"", "01", "+1", "'a'", "\"\\x\"", "[".repeat(2000), "tru")) {
            String text = "{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"tools\":[],\"x\":" + value + "}}";
            bodies.put(text, "not JSON");
        }
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{\"a\":1,\"a\":2}}", "not JSON");
        bodies.put("{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"result\":{}} {}", "not JSON");
        return bodies;
    }

    private static byte[] withId(String body, Request request) {
        return body.replace("@ID@", request.id()).getBytes(UTF_8);
    }

    @ParameterizedTest
    @MethodSource("phases")
    @DisplayName("C10: each malformed body ends the call, as JSON and as an event")
    void malformedBodies(boolean isModern, String phase) throws Exception {
        server(isModern);
        for (Map.Entry<String, String> each : bodies().entrySet()) {
            Throwable failure =
                    run(phase, request -> RawServer.whole(200, "application/json", withId(each.getKey(), request)));
            Throwable event = run(
                    phase,
                    request -> RawServer.events("data: " + new String(withId(each.getKey(), request), UTF_8) + "\n\n"));

            String place = phase + " " + each.getKey();
            if (phase.startsWith("notifications/")) {
                assertThat(failure).as(place).isNull();
            } else {
                assertThat(failure).as(place).hasMessageContaining(each.getValue());
                assertThat(event).as(place).isNotNull();
            }
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    @ParameterizedTest
    @MethodSource("phases")
    @DisplayName("C3: blemishes around an answer are forgiven: events of other types, comments, marks, ids as texts")
    void blemishes(boolean isModern, String phase) throws Exception {
        server(isModern);
        List<Function<Request, Answer>> blemishes = new ArrayList<>();
        for (String before : List.of(
                "event: ping\ndata: {\"time\":1}\n\n",
                "event: error\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":@ID@,\"error\":{}}\n\n",
                ": comment\n\nretry: 0\n\n",
                "data: ping\n\n",
                "data: {\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}\n\n",
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"x\":NaN}}\n\n",
                "id: a\u0000b\nevent: message\n",
                "\ufeff",
                "\ufeffid: 1\ndata:\n\n")) {
            blemishes.add(request -> RawServer.events(
                    before.replace("@ID@", request.id()) + "data: " + healthy(request) + "\n\ndata: more\n\n"));
        }
        blemishes.add(request -> RawServer.json(200, "\ufeff \n" + healthy(request)));
        blemishes.add(request -> RawServer.json(
                200, healthy(request).replace("\"id\":" + request.id(), "\"id\":\"" + request.id() + "\"")));
        blemishes.add(request -> RawServer.json(
                200, healthy(request).replace("\"id\":" + request.id(), "\"id\":" + request.id() + ".0")));
        blemishes.add(request -> RawServer.json(200, healthy(request).replace("\"jsonrpc\":\"2.0\",", "")));
        if (phase.startsWith("notifications/") || isSought(phase) && !isModern || phase.equals("initialize")) {
            return; // which have no answer, or one with a session in its head
        }
        for (Function<Request, Answer> blemish : blemishes) {
            assertThat(run(phase, blemish)).isNull();
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    @Test
    void aStreamIsResumedAfterTheLastIdWithoutNul() throws Exception {
        RawServer raw = server(false);
        var answer = new AtomicReference<>("");
        raw.fault = request -> switch (request.method()) {
            case "tools/call" -> {
                answer.set(healthy(request));
                yield RawServer.events("id: 7\nretry: 1\ndata:\n\nid: a\u0000b\ndata:\n\n");
            }
            case "GET" ->
                "7".equals(request.headers().get("last-event-id"))
                        ? RawServer.events("data: " + answer.get() + "\n\n")
                        : null;
            default -> null;
        };

        try (McpClient client = connected(LIMIT)) {
            assertThat(call(client, "first")).contains("answer to first");
        }
    }

    /** The body of the answer without faults. */
    private String healthy(Request request) {
        String answer = new String(requireNonNull(server).healthy(request).bytes(), UTF_8);
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    @ParameterizedTest
    @MethodSource("phases")
    void eachCutEndsTheCall(boolean isModern, String phase) throws Exception {
        server(isModern);
        int length = 400;
        for (int cut = 0; cut < length; cut += cut < 40 ? 3 : 7) {
            int place = cut;
            Throwable whole = run(phase, request -> {
                byte[] bytes = requireNonNull(server).healthy(request).bytes();
                return new Answer(Arrays.copyOf(bytes, Math.min(place, bytes.length - 1)), After.CLOSE);
            });
            Throwable event = run(phase, request -> {
                byte[] bytes =
                        RawServer.events("data: " + healthy(request) + "\n\n").bytes();
                return new Answer(Arrays.copyOf(bytes, Math.min(place, bytes.length - 2)), After.CLOSE);
            });

            boolean hasAnswer = !phase.startsWith("notifications/") && !(isSought(phase) && !isModern);
            if (hasAnswer) {
                assertThat(whole).as(phase + " cut at " + cut).isNotNull();
                assertThat(event).as(phase + " cut at " + cut).isNotNull();
            }
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    @ParameterizedTest
    @MethodSource("phases")
    @DisplayName("T4: an answer too many reaches no other call, and its connection is not used again")
    void extraAnswers(boolean isModern, String phase) throws Exception {
        server(isModern);
        String next =
                "{\"jsonrpc\":\"2.0\",\"id\":@NEXT@,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"of another\"}]}}";
        for (String extra : List.of(
                next, next.replace("@NEXT@", "\"@NEXT@\""), next.replace("\"id\":@NEXT@,", ""), "junk", "\r\n")) {
            Throwable failure = run(phase, request -> {
                String id = request.id().equals("null") ? "4" : String.valueOf(Long.parseLong(request.id()) + 1);
                String body = extra.replace("@NEXT@", id);
                byte[] bytes = body.startsWith("{") ? RawServer.json(200, body).bytes() : body.getBytes(UTF_8);
                return requireNonNull(server).healthy(request).and(bytes);
            });

            assertThat(failure).as(phase + " " + extra).isNull();
            assertThat(requireNonNull(server).shifted).as(phase + " " + extra).isEmpty();
        }
        try (McpClient client = connected(LIMIT)) {
            for (String text : List.of("second", "third")) {
                assertThat(call(client, text)).contains("answer to " + text);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("phases")
    void aSilentServerEndsTheCallAtItsTimeLimit(boolean isModern, String phase) throws Exception {
        RawServer raw = server(isModern);
        for (String begin : List.of(
                "",
                "HTTP/1.1 200 OK\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"jsonrpc\"",
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: comment\n\n")) {
            raw.fault =
                    request -> request.method().equals(phase) ? Answer.of(begin).then(After.SILENCE) : null;
            Throwable failure = catchThrowable(() -> {
                try (McpClient client = connected(Duration.ofMillis(400))) {
                    client.tools();
                    Faults.call(client, "first", Duration.ofMillis(400));
                }
            });
            raw.fault = request -> null;

            if (isSought(phase) && !isModern) {
                assertThat(failure).as(phase + " " + begin).isNull();
            } else if (!phase.startsWith("notifications/") && !isSought(phase)) {
                assertThat(failure)
                        .as(phase + " " + begin)
                        .isInstanceOfSatisfying(
                                ServerFailure.class,
                                late -> assertThat(late.kind()).isEqualTo(Kind.TIMEOUT));
            }
        }
        assertThatCallsGetTheirOwnAnswers();
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 204, 400, 404, 500, 503})
    void faultsOfSubscriptionsLeaveTheCallsAlone(int status) throws Exception {
        RawServer raw = server(true);
        for (Answer answer : List.of(
                RawServer.json(status, "{}"),
                RawServer.json(status, RawServer.error("null", -32601, "unknown")),
                RawServer.json(status, "<html>"),
                RawServer.head(status, ""),
                RawServer.events("data: {\"jsonrpc\":\"2.0\",\"id\":NaN}\n\n"),
                Answer.of("HTTP/1.1").then(After.CLOSE),
                Answer.of("").then(After.SILENCE))) {
            raw.fault = request -> request.method().equals("subscriptions/listen") ? answer : null;
            try (McpClient client = connected(LIMIT)) {
                client.onChange(list -> {});
                assertThat(call(client, "first")).contains("answer to first");
            }
        }
    }

    @Test
    void aSubscriptionThatBreaksIsBegunAgain() throws Exception {
        RawServer raw = server(true);
        var begun = new CountDownLatch(3);
        raw.fault = request -> {
            if (request.method().equals("subscriptions/listen")) {
                begun.countDown();
                return begun.getCount() > 1 ? RawServer.whole(503, "text/plain", new byte[0]) : null;
            }
            return null;
        };
        var changed = new CountDownLatch(1);
        try (McpClient client = connected(LIMIT)) {
            client.onChange(list -> changed.countDown());

            assertThat(changed.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"307, /mcp/", "308, /mcp/", "307, @ORIGIN@/other?a=b", "308, other"})
    @DisplayName("C4: a redirect within the origin is followed once, with the credentials and the session")
    void redirects(int status, String target) throws Exception {
        RawServer raw = server(false);
        String origin = raw.url().toString().replace("/mcp", "");
        raw.fault = request -> request.line().contains(" /mcp HTTP")
                ? RawServer.head(status, "Location: " + target.replace("@ORIGIN@", origin) + "\r\n")
                : null;
        try (McpClient client = connected(LIMIT)) {
            assertThat(call(client, "first")).contains("answer to first");
        }
        assertThat(raw.requests)
                .filteredOn(request -> request.method().equals("tools/call"))
                .hasSize(2)
                .allSatisfy(request -> assertThat(request.headers())
                        .containsEntry("x-key", "secret")
                        .containsEntry("mcp-session-id", "one"));
    }

    @ParameterizedTest
    @CsvSource({
        "307, https://other.example/mcp",
        "308, http://localhost:1/mcp",
        "308, http://user@127.0.0.1/mcp",
        "301, /mcp/",
        "302, https://login.example/?next=mcp",
        "303, /mcp/",
        "307, http://["
    })
    @DisplayName("C4: another redirect is not followed, and the error names its target")
    void otherRedirects(int status, String target) throws Exception {
        RawServer raw = server(true);
        raw.fault = request -> RawServer.head(status, "Location: " + target + "\r\n");

        assertThat(catchThrowable(() -> connected(LIMIT)))
                .isInstanceOf(ServerFailure.class)
                .hasMessageContaining("status " + status)
                .hasMessageContaining("\"" + target + "\"");
    }

    @Test
    @DisplayName("C4: a redirect that leads to a redirect ends")
    void circles() throws Exception {
        RawServer raw = server(true);
        raw.fault = request -> RawServer.head(307, "Location: /mcp\r\n");

        assertThat(catchThrowable(() -> connected(LIMIT))).hasMessageContaining("status 307");
        assertThat(raw.requests).hasSize(2);
    }

    /** Answers of servers that have lost their sessions. */
    static Stream<Answer> losses() {
        return Stream.of(
                RawServer.json(404, RawServer.error("null", -32001, "Session not found")),
                RawServer.json(
                        400, RawServer.error("\"server-error\"", -32600, "Bad Request: No valid session ID provided")),
                RawServer.json(400, RawServer.error("null", -32000, "Bad Request: Server not initialized")),
                RawServer.whole(400, "text/plain", "unknown session".getBytes(UTF_8)),
                RawServer.whole(410, "text/html", "<p>Session expired</p>".getBytes(UTF_8)),
                RawServer.head(404, ""),
                RawServer.json(
                        200, RawServer.error("null", -32602, "Received request before initialization was complete")));
    }

    @ParameterizedTest
    @MethodSource("losses")
    @DisplayName("C2: a server that has lost the session gets another one, and the call once more")
    void lostSessions(Answer loss) throws Exception {
        RawServer raw = server(false);
        raw.fault =
                request -> request.method().startsWith("tools/") && !isOfSession(request, raw.session) ? loss : null;
        try (McpClient client = connected(LIMIT)) {
            var changes = new CountDownLatch(1);
            client.onChange(list -> changes.countDown());
            assertThat(call(client, "first")).contains("answer to first");

            raw.session = "two";

            assertThat(call(client, "second")).contains("answer to second");
            assertThat(changes.getCount()).as("the tools are to be read again").isZero();
            raw.session = "three";
            assertThat(client.tools().tools()).hasSize(1);
        }
        assertThat(raw.methods().stream().filter("initialize"::equals)).hasSize(3);
    }

    private static boolean isOfSession(Request request, String session) {
        return session.equals(request.headers().get("mcp-session-id"));
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 409, 422, 500, 503})
    @DisplayName("C2: a session that fails twice counts as lost; a call that may have run is not repeated")
    void sessionsThatFail(int status) throws Exception {
        RawServer raw = server(false);
        raw.fault = request -> request.method().startsWith("tools/") && !isOfSession(request, raw.session)
                ? RawServer.whole(status, "text/plain", "something is wrong".getBytes(UTF_8))
                : null;
        try (McpClient client = connected(LIMIT)) {
            raw.session = "two";

            assertThat(catchThrowable(() -> call(client, "first"))).hasMessageContaining("something is wrong");
            Throwable second = catchThrowable(() -> call(client, "second"));
            assertThat(second == null).isEqualTo(status < 500);
            assertThat(call(client, "third")).contains("answer to third");
        }
    }

    @Test
    @DisplayName("C2: a server that is away during the new session is asked again by the next call")
    void lostSessionsOfServersThatStart() throws Exception {
        RawServer raw = server(false);
        try (McpClient client = connected(LIMIT)) {
            raw.session = "two";
            raw.fault = request -> request.method().equals("initialize")
                    ? RawServer.whole(503, "text/plain", "starting".getBytes(UTF_8))
                    : null;
            assertThat(catchThrowable(() -> call(client, "first"))).hasMessageContaining("starting");
            assertThat(catchThrowable(() -> client.tools())).hasMessageContaining("starting");

            raw.fault = request -> null;

            assertThat(call(client, "second")).contains("answer to second");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "false | true | unused",
                "true | false | {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"unsupported\","
                        + "\"data\":{\"supported\":[\"2025-11-25\"]}}}",
                "true | false | {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Server not initialized\"}}"
            })
    @DisplayName("C2: a server that comes back in the other era is found again")
    void changesOfTheEra(boolean before, boolean after, String refusal) throws Exception {
        RawServer raw = server(before);
        try (McpClient client = connected(LIMIT)) {
            assertThat(call(client, "first")).contains("answer to first");

            raw.isModern = after;
            raw.session = "two";
            raw.fault = request -> request.headers().containsKey("mcp-method") == after
                    ? null
                    : RawServer.json(400, after ? RawServer.error("null", -32600, "no session") : refusal);

            assertThat(call(client, "second")).contains("answer to second");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"elicitation/create\" cannot be sent while serving a request on protocol version 2026-07-28",
                "Error executing tool: Cannot send 'elicitation/create': no back-channel for server-initiated requests",
                "Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create'"
            })
    @DisplayName("K7: a server that asks in older revisions only is used in an older one, from the first such call on")
    void serversThatAskInOlderRevisions(String refusal) throws Exception {
        RawServer raw = server(true);
        raw.fault = request -> switch (request.method()) {
            case "initialize", "tools/call" -> {
                raw.isModern = false;
                Answer answer = raw.healthy(request);
                raw.isModern = true;
                yield request.headers().containsKey("mcp-method")
                        ? RawServer.result(
                                request,
                                Map.of("isError", true, "content", List.of(Map.of("type", "text", "text", refusal))))
                        : answer;
            }
            default -> null;
        };
        try (McpClient client = connected(LIMIT)) {
            assertThat(call(client, "first")).contains("answer to first");
            assertThat(call(client, "second")).contains("answer to second");
            assertThat(client.revision().isStateless()).isFalse();
        }
        assertThat(raw.methods().stream().filter("tools/call"::equals)).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({"-32022, unsupported", "-32602, Unsupported protocol version"})
    @DisplayName("K7: a server that refuses a revision is offered the one before")
    void olderRevisions(int code, String refusal) throws Exception {
        RawServer raw = server(false);
        raw.fault = request -> request.method().equals("initialize")
                        && request.message().toString().contains("protocolVersion=2025-11-25")
                ? RawServer.json(200, RawServer.error(request.id(), code, refusal))
                : null;
        try (McpClient client = connected(LIMIT)) {
            assertThat(call(client, "first")).contains("answer to first");
        }
        assertThat(raw.methods().stream().filter("initialize"::equals)).hasSize(2);
    }
}
