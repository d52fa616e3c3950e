package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that take their time. */
@Timeout(60)
class DeadlineTest {
    private static final Duration SOON = Duration.ofMillis(300);

    @Test
    void aClientThatSaysNothingIsCut() throws IOException {
        try (var server = TestServer.builder().headerTimeout(SOON).start();
                var client = RawClient.to(server)) {
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void headersThatComeOneByOneAreCut() throws IOException {
        try (var server = TestServer.builder().headerTimeout(SOON).start();
                var client = RawClient.to(server)) {
            client.send("GET /health HTTP/1.1\n");

            assertThat(headersUntilCut(client)).isGreaterThan(0);
        }
    }

    @Test
    void theSecondRequestHasNoMoreTimeThanTheFirst() throws IOException {
        try (var server = TestServer.builder().headerTimeout(SOON).start();
                var client = RawClient.to(server)) {
            client.send("GET /health HTTP/1.1\nHost: x\n\n");
            assertThat(client.answer().status()).isEqualTo(200);
            client.send("GET /health HTTP/1.1\n");

            assertThat(headersUntilCut(client)).isGreaterThan(0);
        }
    }

    @Test
    void aBodyThatDoesNotComeIsCut() throws IOException {
        try (var server = TestServer.builder().bodyTimeout(SOON).start();
                var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: x\nContent-Length: 5\n\nhel");

            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aConnectionWithoutRequestsIsClosed() throws IOException {
        try (var server = TestServer.builder().idleTimeout(SOON).start();
                var client = RawClient.to(server)) {
            client.send("GET /health HTTP/1.1\nHost: x\n\n");
            assertThat(client.answer().status()).isEqualTo(200);

            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void aClientOfHttp2WithoutRequestsIsClosed() throws IOException {
        try (var server = TestServer.builder().idleTimeout(SOON).start();
                var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.US_ASCII));

            assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
        }
    }

    @Test
    void aBodyOfHttp2ThatDoesNotComeIsCut() throws Exception {
        try (var server = TestServer.builder().bodyTimeout(SOON).start();
                var http = HttpClient.newHttpClient()) {
            var health = URI.create("http://127.0.0.1:" + server.port() + "/health");
            assertThat(http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding())
                            .version())
                    .isEqualTo(HttpClient.Version.HTTP_2);
            var stalled = BodyPublishers.fromPublisher(subscriber -> subscriber.onSubscribe(new Nothing()));
            var post = HttpRequest.newBuilder(health.resolve("/echo"))
                    .POST(stalled)
                    .build();

            assertThatThrownBy(() -> http.send(post, BodyHandlers.discarding())).isInstanceOf(IOException.class);
        }
    }

    @Test
    void aReaderOfHttp2ThatStoppedReadingLosesItsStream() throws Exception {
        var events = new ScriptedEvents();
        var frame = new byte[1024 * 1024];
        try (var server = TestServer.builder()
                        .writeTimeout(SOON)
                        .handler("/events", (request, body) -> events.answer(event -> frame))
                        .start();
                var http = HttpClient.newHttpClient()) {
            var health = URI.create("http://127.0.0.1:" + server.port() + "/health");
            http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding());
            var answer =
                    http.send(HttpRequest.newBuilder(health.resolve("/events")).build(), BodyHandlers.ofInputStream());

            for (var sequence = 1; sequence <= 100; sequence++) {
                events.show(sequence);
            }

            assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(events.isClosedWithin(Duration.ofSeconds(20))).isTrue();
            assertThat(http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
            answer.body().close();
        }
    }

    @Test
    void anAnswerMayTakeAsLongAsItTakes() throws Exception {
        var events = new ScriptedEvents();
        try (var server = TestServer.builder()
                        .headerTimeout(SOON)
                        .bodyTimeout(SOON)
                        .idleTimeout(SOON)
                        .handler("/slow", (request, body) -> {
                            waitFor(events, SOON.multipliedBy(5));
                            return TestServer.text("done");
                        })
                        .start();
                var client = RawClient.to(server)) {
            client.send("POST /slow HTTP/1.1\nHost: x\nContent-Length: 5\n\nhello");

            assertThat(client.answer().body()).isEqualTo("done");
        }
    }

    @Test
    void aReaderThatStoppedReadingIsCut() throws Exception {
        var events = new ScriptedEvents();
        var frame = new byte[1024 * 1024];
        try (var server = TestServer.builder()
                        .writeTimeout(SOON)
                        .handler("/events", (request, body) -> events.answer(event -> frame))
                        .start();
                var socket = new Socket()) {
            socket.setReceiveBufferSize(4096);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            new RawClient(socket).send("GET /events HTTP/1.1\nHost: x\n\n");

            for (var sequence = 1; sequence <= 20; sequence++) {
                events.show(sequence);
            }

            assertThat(events.isClosedWithin(Duration.ofSeconds(20))).isTrue();
        }
    }

    private static int headersUntilCut(RawClient client) throws IOException {
        var sent = 0;
        try {
            while (sent < 1000) {
                client.send("X-Test: " + sent + "\n");
                sent++;
                waitFor(new ScriptedEvents(), Duration.ofMillis(20));
            }
        } catch (IOException e) {
            return sent;
        }
        throw new AssertionError("1000 headers, and never cut");
    }

    private static void waitFor(ScriptedEvents nothing, Duration patience) {
        try {
            assertThat(nothing.isClosedWithin(patience)).isFalse();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A body of which nothing comes, not even its end. */
    private static final class Nothing implements Flow.Subscription {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    }
}
