package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests of HTTP/2 that are unfinished when their connection ends hold nothing any more. */
@Timeout(120)
final class DepartedClientTest {
    private static final String SEND = "lf.a2a.v1.A2AService/SendMessage";
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SOON = Duration.ofMillis(300);

    enum End {
        CLOSE,
        GO_AWAY,
        SILENCE
    }

    private final Holdings.Calls calls = new Holdings.Calls();
    private final ScriptedAgent agent = new ScriptedAgent();
    private final List<RawHttp2Client> clients = new ArrayList<>();
    private Server server = start(LONG);

    private void start(End end) {
        if (end == End.SILENCE) {
            server.close();
            server = start(SOON);
        }
    }

    private Server start(Duration patience) {
        var server = TestServer.builder()
                .grpc(DialectSettings.DEFAULTS)
                .defaultAgent("first")
                .authenticator(calls)
                .headerTimeout(LONG)
                .bodyTimeout(patience)
                .idleTimeout(LONG)
                .start();
        server.add(agent.served(server, "first"));
        return server;
    }

    @AfterEach
    void stop() throws IOException {
        for (var client : clients) {
            client.close();
        }
        server.close();
    }

    private RawHttp2Client connect() throws IOException {
        var client = RawHttp2Client.to(server);
        clients.add(client);
        return client;
    }

    private void end(End end) throws IOException {
        for (var client : clients) {
            switch (end) {
                case CLOSE -> client.close();
                case GO_AWAY -> {
                    client.goAway();
                    client.close();
                }
                case SILENCE -> {}
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void announcedMessagesTakeNoMemoryFromOthersOnceTheirConnectionIsGone(End end) throws IOException {
        start(end);
        var client = connect();
        for (int i = 0; i < 160; i++) {
            client.call(1 + 2 * i, SEND);
            client.data(1 + 2 * i, HexFormat.of().parseHex("0000989680"), false);
        }
        if (end != End.SILENCE) {
            Eventually.value(
                    "160 threads of streams", () -> Holdings.of(server, calls), held -> held.streamThreads() == 160);
        }

        end(end);
        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);

        assertThat(sendLarge()).isTrue();
    }

    @Test
    void announcedBytesAreCountedAsTheyCome() throws IOException {
        var client = connect();
        for (int i = 0; i < 160; i++) {
            client.call(1 + 2 * i, SEND);
            client.data(1 + 2 * i, HexFormat.of().parseHex("0000989680"), false);
        }
        Eventually.value(
                "160 threads of streams", () -> Holdings.of(server, calls), held -> held.streamThreads() == 160);

        assertThat(sendLarge()).isTrue();
        assertThat(Holdings.of(server, calls).bodyBytes()).isZero();
    }

    /** Sends a message of 5 MB over HTTP/1.1, and returns whether it was answered. */
    private boolean sendLarge() throws IOException {
        var body = Requests.jsonRpc("SendMessage", "x".repeat(5_000_000));
        try (var other = RawClient.to(server)) {
            other.send(
                            "POST /agents/first HTTP/1.1\nHost: x\nContent-Type: application/json\nA2A-Version: 1.0\nContent-Length: "
                                    + body.length() + "\n\n")
                    .sendExactly(body);
            return other.answer().status() == 200;
        }
    }

    @ParameterizedTest
    @EnumSource
    void unfinishedRequestsEndWithTheirConnections(End end) throws IOException {
        start(end);
        for (int connection = 0; connection < 4; connection++) {
            var client = connect();
            for (int i = 0; i < 500; i++) {
                client.post(1 + 2 * i, "/agents/first");
            }
        }
        if (end != End.SILENCE) {
            Eventually.value("2000 calls", () -> Holdings.of(server, calls), held -> held.calls() == 2000);
        }

        end(end);

        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
    }

    @Test
    void aRequestThatIsAnsweredBeforeItHasComeInWholeEndsWithItsConnection() throws IOException {
        var client = connect();
        client.post(1, "/health");
        while (client.next().stream() != 1) {}
        Eventually.value("a thread of a stream", () -> Holdings.of(server, calls), held -> held.streamThreads() == 1);

        end(End.CLOSE);

        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
    }

    @Test
    void theRestOfARequestThatIsAnsweredHasADeadline() throws IOException {
        start(End.SILENCE);
        var client = connect();
        client.post(1, "/health");

        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
    }

    @Test
    void aStreamThatIsNotReadDoesNotKeepTheServerFromSeeingItsClientLeave() throws Exception {
        start(End.SILENCE);
        var waits = new Wait();
        agent.before = waits;
        var client = connect();
        client.call(1, SEND);
        client.data(1, message(), true);
        waits.awaitEntered();
        client.post(3, "/agents/first");
        // Each is a frame of its own, and Helidon keeps few before it stops reading.
        for (int i = 0; i < 100; i++) {
            client.data(3, new byte[1], false);
        }

        client.close();

        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
    }

    /** As Helidon does with one that comes while it waits to write a frame. */
    @Test
    void aStreamThatLosesInterruptsEndsWithItsConnection() throws Exception {
        var entered = new CountDownLatch(1);
        server.close();
        server = TestServer.builder()
                .authenticator(calls)
                .headerTimeout(SOON) // the clock is as fast as the shortest of them
                .handler("/wait", (request, body) -> {
                    entered.countDown();
                    for (int lost = 0; lost < 10; lost++) {
                        awaitInterrupt();
                    }
                    return TestServer.text("gone");
                })
                .start();
        var client = connect();
        client.get(1, "/wait");
        assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();

        client.close();

        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
    }

    private static void awaitInterrupt() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException lost) {
            // with its flag
        }
    }

    static byte[] message() {
        var message = SendMessageRequest.newBuilder()
                .setMessage(Message.newBuilder()
                        .setMessageId("m1")
                        .setRole(Role.ROLE_USER)
                        .addParts(Part.newBuilder().setText("hello")))
                .build()
                .toByteArray();
        return Requests.frame(message);
    }
}
