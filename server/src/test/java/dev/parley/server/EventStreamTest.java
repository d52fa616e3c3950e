package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class EventStreamTest {
    private static final Duration DEADLINE = Duration.ofSeconds(10);
    private static final String SUBSCRIBE = "GET /events HTTP/1.1\nHost: x\nAccept: text/event-stream\n\n";

    private final BlockingQueue<ScriptedEvents> opened = new LinkedBlockingQueue<>();
    private Server server;

    @BeforeEach
    void start() {
        server = TestServer.builder()
                .maxStreams(2)
                .handler("/events", (request, body) -> {
                    var events = new ScriptedEvents();
                    opened.add(events);
                    return events.answer();
                })
                .start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void eventsArriveAsTheyHappen() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send(SUBSCRIBE);
            var events = opened();

            var head = client.head();
            events.show(1).show(2, 3).end();

            assertThat(head.status()).isEqualTo(200);
            assertThat(head.headers())
                    .containsEntry("content-type", "text/event-stream")
                    .containsEntry("cache-control", "no-store, no-transform")
                    .containsEntry("x-accel-buffering", "no")
                    .containsEntry("a2a-version", "1.0")
                    .containsEntry("x-content-type-options", "nosniff");
            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
            assertThat(client.chunk()).isEqualTo("id: 1\n\n");
            assertThat(client.chunk()).isEqualTo("id: 2\n\nid: 3\n\n");
            assertThat(client.chunk()).isEmpty();
            assertThat(events.isClosedWithin(DEADLINE)).isTrue();
        }
    }

    @Test
    void anotherRequestMayFollowAStream() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send(SUBSCRIBE);
            opened().show(1).end();
            client.head();
            assertThat(readToTheEnd(client)).endsWith("id: 1\n\n");

            client.send("GET /health HTTP/1.1\nHost: x\n\n");

            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void aStreamCanBeTheLastOfItsConnection() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send("GET /events HTTP/1.1\nHost: x\nConnection: close\n\n");
            opened().show(1).end();

            assertThat(client.head().headers()).containsEntry("connection", "close");
            assertThat(readToTheEnd(client)).endsWith("id: 1\n\n");
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aStreamThatBreaksSaysWhy() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send(SUBSCRIBE);
            opened().show(1).breakWith(A2AException.of(A2AError.UNSUPPORTED_OPERATION));
            client.head();

            assertThat(readToTheEnd(client)).endsWith("id: 1\n\ndata: UNSUPPORTED_OPERATION\n\n");
        }
    }

    @Test
    void aStreamThatBreaksForNoGoodReasonDoesNotSayWhy() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send(SUBSCRIBE);
            opened().breakWith(new IllegalStateException("the secret"));
            client.head();

            assertThat(readToTheEnd(client)).endsWith("data: INTERNAL\n\n");
        }
    }

    @Test
    void aQuietStreamIsKeptAlive() throws Exception {
        var events = new ScriptedEvents();
        try (var other = TestServer.builder()
                        .keepAlive(Duration.ofMillis(100))
                        .handler("/events", (request, body) -> events.answer())
                        .start();
                var client = RawClient.to(other)) {
            client.send(SUBSCRIBE);
            client.head();

            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
        }
    }

    @Test
    @DisplayName("AV07: a stream of AgentVault is kept alive by comments while its task is quiet")
    void aQuietStreamOfAgentVaultIsKeptAlive() throws Exception {
        var agent = new ScriptedAgent();
        String body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/sendSubscribe\",\"params\":{\"id\":\"t1\"}}";
        try (var other = TestServer.builder().keepAlive(Duration.ofMillis(100)).start();
                var client = RawClient.to(other)) {
            other.add(agent.served(other, "first"));
            client.send("POST /agents/first/agentvault/ HTTP/1.1\nHost: x\nAccept: text/event-stream\n"
                    + "Content-Type: application/json\nContent-Length: " + body.length() + "\n\n" + body);

            assertThat(client.head().headers()).containsEntry("content-type", "text/event-stream");
            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
            assertThat(client.chunk()).isEqualTo(": keep-alive\n\n");
            agent.events.show(1);
            String event = client.chunk();
            while (event.equals(": keep-alive\n\n")) {
                event = client.chunk();
            }
            assertThat(event).startsWith("event: task_status\ndata: {").contains("\"state\":\"WORKING\"");
        }
    }

    @Test
    void whoLeavesIsNoticedAtOnce() throws Exception {
        ScriptedEvents events;
        try (var client = RawClient.to(server)) {
            client.send(SUBSCRIBE);
            events = opened();
            client.head();
        }

        assertThat(events.isClosedWithin(DEADLINE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void whoCancelsIsNoticedAtOnce(HttpClient.Version version) throws Exception {
        try (var http = HttpClient.newBuilder().version(version).build()) {
            http.send(request("/health"), BodyHandlers.discarding());
            var answer = subscribe(http);
            var events = opened().show(1);
            assertThat(new String(answer.body().readNBytes(3), StandardCharsets.UTF_8))
                    .isNotEmpty();

            answer.body().close();

            assertThat(answer.version()).isEqualTo(version);
            assertThat(events.isClosedWithin(DEADLINE)).isTrue();
        }
    }

    @Test
    void manyStreamsMayShareAConnectionOfHttp2() throws Exception {
        try (var http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
            http.send(request("/health"), BodyHandlers.discarding());
            var one = subscribe(http);
            var first = opened();
            var other = subscribe(http);
            var second = opened();

            one.body().close();
            assertThat(first.isClosedWithin(DEADLINE)).isTrue();
            second.show(7).end();

            assertThat(new String(other.body().readAllBytes(), StandardCharsets.UTF_8))
                    .endsWith("id: 7\n\n");
        }
    }

    @Test
    void tooManyStreamsAreRefusedForNow() throws Exception {
        try (var one = RawClient.to(server);
                var two = RawClient.to(server);
                var three = RawClient.to(server)) {
            one.send(SUBSCRIBE).head();
            two.send(SUBSCRIBE).head();

            var refused = three.send(SUBSCRIBE).answer();

            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.headers()).containsEntry("retry-after", "5");
            opened().end();
            opened().end();
            readToTheEnd(one);
            readToTheEnd(two);
            assertThat(three.send(SUBSCRIBE).head().status()).isEqualTo(200);
        }
    }

    @Test
    void whereToResumeReachesTheAgent() throws Exception {
        var agent = new ScriptedAgent();
        server.add(agent.served(server, "counter"));
        agent.events.show(6).end();
        try (var client = RawClient.to(server)) {
            client.send(
                    "GET /agents/counter/tasks/t1:subscribe HTTP/1.1\nHost: x\nA2A-Version: 1.0\nlast-event-id: 5\n\n");

            assertThat(client.head().status()).isEqualTo(200);
            assertThat(client.chunk()).startsWith("id: 6\n").endsWith("\n\n");
            assertThat(agent.asked.poll(10, TimeUnit.SECONDS)).isEqualTo(new Operation.SubscribeToTask(null, "t1", 5L));
        }
    }

    @Test
    void headOfAStreamOpensNone() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send("HEAD /events HTTP/1.1\nHost: x\n\n");

            assertThat(client.head().headers()).containsEntry("content-type", "text/event-stream");
            assertThat(opened().isClosedWithin(DEADLINE)).isTrue();
        }
    }

    private ScriptedEvents opened() throws InterruptedException {
        var events = opened.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        assertThat(events).isNotNull();
        return events;
    }

    private HttpResponse<InputStream> subscribe(HttpClient http) throws IOException, InterruptedException {
        return http.send(request("/events"), BodyHandlers.ofInputStream());
    }

    private HttpRequest request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .build();
    }

    private static String readToTheEnd(RawClient client) throws IOException {
        var all = new StringBuilder();
        for (var chunk = client.chunk(); !chunk.isEmpty(); chunk = client.chunk()) {
            all.append(chunk);
        }
        return all.toString();
    }
}
