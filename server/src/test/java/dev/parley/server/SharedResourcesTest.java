package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.server.limits.FairScheduler;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One hostile and one ordinary client for each thing that all connections of a server share: the ordinary one is answered. How
 * long that takes is not measured here; {@code HostileGroupTest} does, and {@code bench/measure neighbour}.
 */
@Timeout(120)
final class SharedResourcesTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final int LARGE = 1_000_000;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final ScriptedAgent agent = new ScriptedAgent();
    private final Holdings.Calls calls = new Holdings.Calls();

    @AfterEach
    void close() throws Exception {
        for (var each : open.reversed()) {
            each.close();
        }
    }

    private Server start(ServerBuilder settings) {
        var server = settings.grpc(DialectSettings.DEFAULTS)
                .defaultAgent("first")
                .authenticator(calls)
                .start();
        open.add(server);
        server.add(agent.served(server, "first"));
        return server;
    }

    private ServerBuilder patient() {
        return TestServer.builder()
                .headerTimeout(LONG)
                .bodyTimeout(LONG)
                .idleTimeout(LONG)
                .writeTimeout(LONG);
    }

    private RawClient client(Server server) throws IOException {
        var client = RawClient.to(server);
        open.add(client);
        return client;
    }

    private static int health(Server server) throws IOException {
        try (var client = RawClient.to(server)) {
            return client.send("GET /health HTTP/1.1\nHost: x\n\n").answer().status();
        }
    }

    private int send(Server server, String text) throws IOException {
        var body = Requests.jsonRpc("SendMessage", text);
        try (var client = RawClient.to(server)) {
            return client.send("POST /agents/first HTTP/1.1\nHost: x\nA2A-Version: 1.0\n"
                            + "Content-Type: application/json\nContent-Length: " + body.length() + "\n\n")
                    .sendExactly(body)
                    .answer()
                    .status();
        }
    }

    /** The budget of bodies: announced and half-sent bodies of one client, and a large body of another. */
    @Test
    void bodiesThatDoNotComeTakeNoMemoryFromThoseThatDo() throws IOException {
        var server = start(patient().maxBodyBytes(2 * LARGE));
        for (int i = 0; i < 200; i++) {
            client(server)
                    .send("POST /agents/first HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: "
                            + 2 * LARGE + "\n\n{");
        }
        Eventually.value("200 calls", () -> Holdings.of(server, calls), held -> held.calls() == 200);

        assertThat(send(server, "x".repeat(LARGE))).isEqualTo(200);
    }

    /** The clock that ends slow connections: a stream whose end takes long, and a client that is late. */
    @Test
    void theClockCutsLateClientsWhileTheEndOfAStreamTakesLong() throws Exception {
        var closing = new CountDownLatch(1);
        var mayClose = new CountDownLatch(1);
        open.add(mayClose::countDown);
        var slow = new Feed<byte[]>() {
            @Override
            public @Nullable List<byte[]> next(Duration patience) throws InterruptedException {
                return mayClose.await(patience.toNanos(), TimeUnit.NANOSECONDS) ? null : List.of(new byte[LARGE]);
            }

            @Override
            public void close() {
                closing.countDown();
                try {
                    mayClose.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        var server = start(TestServer.builder()
                .headerTimeout(SHORT)
                .writeTimeout(SHORT)
                .keepAlive(Duration.ofMillis(1))
                .handler("/slow", (request, body) -> new WireAnswer.Events(Map.of(), slow, problem -> new byte[0])));
        var socket = new Socket();
        open.add(socket);
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
        new RawClient(socket).send("GET /slow HTTP/1.1\nHost: x\n\n");
        assertThat(closing.await(60, TimeUnit.SECONDS)).isTrue();

        try (var late = RawClient.to(server)) {
            assertThat(late.isClosedByServer()).isTrue();
        }
        assertThat(health(server)).isEqualTo(200);
    }

    /** Threads and writes: clients that read nothing of endless streams, and another's call. */
    @Test
    void aClientThatReadsNothingDoesNotHoldUpOthers() throws Exception {
        var endless = new FullStream();
        var server = start(patient()
                .handler(
                        "/endless",
                        (request, body) -> new WireAnswer.Events(
                                Map.of(), endless.as(event -> new byte[64 * 1024]), problem -> new byte[0])));
        for (int i = 0; i < 50; i++) {
            client(server).send("GET /endless HTTP/1.1\nHost: x\n\n");
        }
        assertThat(endless.isBegunWithin(Duration.ofSeconds(30))).isTrue();

        assertThat(send(server, "hello")).isEqualTo(200);
        assertThat(health(server)).isEqualTo(200);
    }

    /** Threads of streams: a thousand unfinished requests of one connection, and another's call. */
    @Test
    void unfinishedRequestsOfOneConnectionDoNotHoldUpCallsOfAnother() throws IOException {
        var server = start(patient());
        var hostile = RawHttp2Client.to(server);
        open.add(hostile);
        for (int i = 0; i < 1000; i++) {
            hostile.post(1 + 2 * i, "/agents/first");
        }
        Eventually.value("1000 calls", () -> Holdings.of(server, calls), held -> held.calls() == 1000);

        var ordinary = RawHttp2Client.to(server);
        open.add(ordinary);
        ordinary.call(1, "lf.a2a.v1.A2AService/SendMessage");
        ordinary.data(1, DepartedClientTest.message(), true);
        ordinary.awaitEnd(1);
    }

    /** The processors, before a caller is known: connections full of requests without credentials, and another's calls. */
    @Test
    void floodsOfRefusedRequestsDoNotHoldUpCallsOfAnother() throws Exception {
        var server = TestServer.builder()
                .defaultAgent("first")
                .authenticator((name, arrival) -> {
                    if (arrival.header("X-Group") == null) {
                        throw A2AException.refused(A2AError.UNAUTHENTICATED, "Authentication required", "Caller");
                    }
                    return AuthenticationResult.of(CallContext.anonymous());
                })
                .start();
        open.add(server);
        server.add(agent.served(server, "first"));
        for (int i = 0; i < 20; i++) {
            try (var hostile = RawHttp2Client.to(server)) {
                for (int j = 0; j < 500; j++) {
                    hostile.post(1 + 2 * j, "/agents/first");
                }
            } catch (SocketException ended) {
                // by the server, which may
            }
        }

        for (int i = 0; i < 20; i++) {
            assertThat(sendAs(server, "ordinary")).isEqualTo(200);
        }
        Eventually.value("no threads of streams", () -> Holdings.of(server, calls), held -> held.streamThreads() == 0);
    }

    /** A connection that sends nothing but requests without credentials, each of which is answered. */
    @Test
    void aConnectionWithManyRefusedRequestsAndNoneAdmittedEnds() throws Exception {
        var server = TestServer.builder()
                .defaultAgent("first")
                .authenticator((name, arrival) -> {
                    throw A2AException.refused(A2AError.UNAUTHENTICATED, "Authentication required", "Caller");
                })
                .start();
        open.add(server);
        server.add(agent.served(server, "first"));
        try (var hostile = RawHttp2Client.to(server)) {
            for (int i = 0; i < 120; i++) {
                hostile.post(1 + 2 * i, "/agents/first");
                hostile.data(1 + 2 * i, new byte[0], true);
            }
            hostile.awaitClose();
        } catch (SocketException ended) {
            // by the server, while requests were sent
        }
        Eventually.value("no threads of streams", () -> Holdings.of(server, calls), held -> held.streamThreads() == 0);
    }

    private int sendAs(Server server, String group) throws IOException {
        var body = Requests.jsonRpc("SendMessage", "hello");
        return client(server)
                .send("POST /agents/first HTTP/1.1\nHost: x\nA2A-Version: 1.0\nX-Group: " + group
                        + "\nContent-Type: application/json\nContent-Length: " + body.length() + "\n\n")
                .sendExactly(body)
                .answer()
                .status();
    }

    /** Streams of one connection: one that is reset while it waits, and one that goes on. */
    @Test
    void aResetEndsOneStreamAndNoOther() throws Exception {
        var server = start(patient());
        var wait = new Wait();
        agent.before = wait;
        var client = RawHttp2Client.to(server);
        open.add(client);
        for (int i = 0; i < 20; i++) {
            client.call(1 + 2 * i, "lf.a2a.v1.A2AService/SendMessage");
            client.data(1 + 2 * i, DepartedClientTest.message(), true);
            wait.awaitEntered();
        }

        for (int i = 0; i < 19; i++) {
            client.reset(1 + 2 * i);
        }
        Eventually.value("a call", () -> Holdings.of(server, calls), held -> held.calls() == 1);
        wait.end();

        client.awaitEnd(39);
    }

    /** Announced messages of gRPC, and a message of another. */
    @Test
    void announcedMessagesOfGrpcTakeNoMemory() throws IOException {
        var server = start(patient());
        var hostile = RawHttp2Client.to(server);
        open.add(hostile);
        for (int i = 0; i < 500; i++) {
            hostile.call(1 + 2 * i, "lf.a2a.v1.A2AService/SendMessage");
            hostile.data(1 + 2 * i, HexFormat.of().parseHex("0000989680"), false);
        }
        Eventually.value(
                "500 threads of streams", () -> Holdings.of(server, calls), held -> held.streamThreads() == 500);

        assertThat(send(server, "x".repeat(5 * LARGE))).isEqualTo(200);
    }

    /** The carriers of virtual threads: work on platform threads for one client, and the health of the server. */
    @Test
    void healthIsAnsweredWhileHandlersWaitForProcessors() throws Exception {
        var processors = Runtime.getRuntime().availableProcessors();
        var running = new CountDownLatch(processors);
        var stop = new CountDownLatch(1);
        try (var pool = Executors.newFixedThreadPool(
                processors, Thread.ofPlatform().daemon().factory())) {
            var server = start(patient().handler("/burn", (request, body) -> {
                try {
                    pool.submit(() -> {
                                running.countDown();
                                while (stop.getCount() > 0) {
                                    Thread.onSpinWait();
                                }
                            })
                            .get();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                return TestServer.text("burnt");
            }));
            try {
                for (int i = 0; i < 3 * processors; i++) {
                    client(server).send("GET /burn HTTP/1.1\nHost: x\n\n");
                }
                assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();

                assertThat(health(server)).isEqualTo(200);
                assertThat(send(server, "hello")).isEqualTo(200);
            } finally {
                stop.countDown();
            }
        }
    }

    /** A share of the processors: requests of one group that never end, and another group's. */
    @Test
    void aGroupWhoseCallsNeverEndDoesNotHoldUpAnother() throws Exception {
        var clock = Executors.newSingleThreadScheduledExecutor();
        try {
            var shares = new FairScheduler(clock, 1, 2, Duration.ofHours(1));
            shares.enter("quiet").run();
            shares.enter("hostile");
            shares.enter("hostile");

            for (int i = 0; i < 100; i++) {
                shares.enter("quiet").run();
            }
        } finally {
            clock.shutdownNow();
        }
    }

    /** The places of event streams: a group that opens as many as it can, and a stream of another. */
    @Test
    void aGroupThatOpensStreamsLeavesPlacesToAnother() throws Exception {
        var endless = new FullStream();
        agent.stream = endless;
        var server = TestServer.builder()
                .maxStreams(16)
                .defaultAgent("first")
                .authenticator((name, arrival) -> {
                    var group = String.valueOf(arrival.header("X-Group"));
                    return new AuthenticationResult(
                            CallContext.of("caller", new CallContext.Scope(group, "caller")),
                            Map.of(),
                            () -> {},
                            () -> true);
                })
                .start();
        open.add(server);
        server.add(agent.served(server, "first"));

        int opened = 0;
        while (opened < 16 && stream(server, "hostile") == 200) {
            opened++;
        }

        assertThat(opened).isEqualTo(14);
        assertThat(stream(server, "ordinary")).isEqualTo(200);
    }

    private int stream(Server server, String group) throws IOException {
        var body = Requests.jsonRpc("SendStreamingMessage", "hello");
        return client(server)
                .send("POST /agents/first HTTP/1.1\nHost: x\nA2A-Version: 1.0\nX-Group: " + group
                        + "\nContent-Type: application/json\nContent-Length: " + body.length() + "\n\n")
                .sendExactly(body)
                .head()
                .status();
    }
}
