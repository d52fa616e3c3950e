package dev.parley.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client that leaves holds nothing any more within a second: over each binding, in each phase of a request, in each way to
 * leave. A client that stays and says nothing has left once its time-out is over.
 *
 * <p>The patient server has time-outs of minutes, so what is free there is free because the client has left; the other has
 * short ones, for clients that stay and say nothing.
 *
 * <p>Time is counted in answers of a third server to a client that asks 20 times a second, so that a machine that is busy with
 * something else delays both.
 */
@Timeout(120)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("heavy")
final class ConnectionEndMatrixTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration RELEASE = Duration.ofSeconds(1);
    private static final String SERVICE = "lf.a2a.v1.A2AService/";
    private static final String TEXT = "x".repeat(150_000); // more than a connection may take without being counted

    enum Binding {
        JSON_RPC,
        REST,
        HTTP2,
        GRPC;

        boolean isHttp2() {
            return this == HTTP2 || this == GRPC;
        }
    }

    enum Phase {
        HEAD,
        BODY,
        WAITING,
        STREAMING
    }

    enum Leaving {
        FIN,
        RST,
        RST_STREAM,
        GO_AWAY,
        SILENCE
    }

    /** A client that stays, as a measure of time. */
    private static final class Control implements AutoCloseable {
        private static final Duration PAUSE = Duration.ofMillis(50);

        private final Server server =
                TestServer.builder().authenticator(new Holdings.Calls()).start();
        private final AtomicInteger answers = new AtomicInteger();
        private final Thread client = Thread.ofPlatform().daemon().start(this::ask);

        private void ask() {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    try (var health = RawClient.to(server)) {
                        assertThat(health.send("GET /health HTTP/1.1\nHost: x\n\n")
                                        .answer()
                                        .status())
                                .isEqualTo(200);
                    }
                    answers.incrementAndGet();
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            } catch (IOException ended) {
                throw new UncheckedIOException(ended);
            }
        }

        /** How many answers the client gets in a time while the machine has nothing else to do. */
        static int answersIn(Duration time) {
            return (int) time.dividedBy(PAUSE);
        }

        @Override
        public void close() throws InterruptedException {
            client.interrupt();
            client.join();
            server.close();
        }
    }

    private final Holdings.Calls calls = new Holdings.Calls();
    private final ScriptedAgent agent = new ScriptedAgent();
    private Server patient;
    private Server impatient;
    private Control control;

    static List<Arguments> cells() {
        var cells = new ArrayList<Arguments>();
        for (var binding : Binding.values()) {
            for (var phase : Phase.values()) {
                for (var leaving : Leaving.values()) {
                    boolean ofStreams = leaving == Leaving.RST_STREAM || leaving == Leaving.GO_AWAY;
                    // A stream exists once its headers are there; nothing else may stand between them.
                    if (!ofStreams || binding.isHttp2() && phase != Phase.HEAD) {
                        cells.add(Arguments.of(binding, phase, leaving));
                    }
                }
            }
        }
        return cells;
    }

    @BeforeAll
    void start() {
        patient = start(LONG);
        impatient = start(SHORT);
        control = new Control();
    }

    private Server start(Duration patience) {
        var server = TestServer.builder()
                .grpc(DialectSettings.DEFAULTS)
                .defaultAgent("first")
                .authenticator(calls)
                .headerTimeout(patience)
                .bodyTimeout(patience)
                .idleTimeout(patience)
                .writeTimeout(patience)
                .start();
        server.add(agent.served(server, "first"));
        return server;
    }

    @AfterAll
    void stop() throws InterruptedException {
        control.close();
        patient.close();
        impatient.close();
    }

    @ParameterizedTest
    @MethodSource("cells")
    void aClientThatHasLeftHoldsNothingAfterASecond(Binding binding, Phase phase, Leaving leaving) throws Exception {
        assertThat(control.client.isAlive()).isTrue();

        int release = leave(binding, phase, leaving);

        assertThat(release).as("answers to a client that stays").isLessThanOrEqualTo(Control.answersIn(RELEASE));
    }

    /** Returns how many answers another client got while the server held something after the client had left. */
    private int leave(Binding binding, Phase phase, Leaving leaving) throws Exception {
        var silent = leaving == Leaving.SILENCE;
        var server = silent ? impatient : patient;
        var wait = new Wait();
        agent.before = wait;
        var events = new ScriptedEvents();
        var endless = new FullStream();
        agent.stream = silent ? endless : events;
        int release;
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            var http2 = binding.isHttp2() ? new RawHttp2Client(socket) : null;

            if (http2 == null) {
                begin(new RawClient(socket), binding, phase);
            } else {
                begin(http2, binding, phase);
            }
            if (silent) {
                awaitSilent(phase, wait, endless);
            } else {
                await(phase, wait);
            }
            int left = control.answers.get();
            switch (leaving) {
                case FIN -> socket.shutdownOutput();
                case RST -> {
                    socket.setSoLinger(true, 0);
                    socket.close();
                }
                case RST_STREAM -> requireNonNull(http2).reset(1);
                case GO_AWAY -> requireNonNull(http2).goAway();
                case SILENCE -> {
                    if (phase != Phase.STREAMING) { // where the client must not read
                        assertThat(new RawClient(socket).isClosedInTheEnd()).isTrue();
                    }
                }
            }

            Eventually.value(
                    "a free server",
                    () -> Holdings.of(server, calls),
                    Holdings.free(leaving == Leaving.RST_STREAM ? 1 : 0)::equals);
            release = control.answers.get() - left;
            if (phase == Phase.STREAMING) {
                assertThat(silent || events.isClosedWithin(Duration.ofSeconds(30)))
                        .isTrue();
            }
        }
        Eventually.value("a free server", () -> Holdings.of(server, calls), Holdings.free(0)::equals);
        return silent ? release - Control.answersIn(SHORT) : release;
    }

    private static void begin(RawClient client, Binding binding, Phase phase) throws IOException {
        boolean rest = binding == Binding.REST;
        var target = switch (phase) {
            case STREAMING -> rest ? "/agents/first/message:stream" : "/agents/first";
            default -> rest ? "/agents/first/message:send" : "/agents/first";
        };
        var head = "POST " + target + " HTTP/1.1\nHost: x\nA2A-Version: 1.0\nContent-Type: application/json\n";
        if (phase == Phase.HEAD) {
            client.send(head);
            return;
        }
        var body = body(binding, phase);
        client.send(head + "Content-Length: " + body.length() + "\n\n");
        client.sendExactly(phase == Phase.BODY ? body.substring(0, body.length() - 1000) : body);
    }

    private static String body(Binding binding, Phase phase) {
        return binding == Binding.REST
                ? Requests.send(TEXT)
                : Requests.jsonRpc(phase == Phase.STREAMING ? "SendStreamingMessage" : "SendMessage", TEXT);
    }

    private static void begin(RawHttp2Client client, Binding binding, Phase phase) throws IOException {
        if (phase == Phase.HEAD) {
            client.beginHeaders(1);
            return;
        }
        byte[] body;
        if (binding == Binding.GRPC) {
            client.call(1, SERVICE + (phase == Phase.STREAMING ? "SubscribeToTask" : "SendMessage"));
            body = phase == Phase.STREAMING ? subscription() : message();
        } else {
            client.post(1, "/agents/first", Map.of("a2a-version", "1.0", "content-type", "application/json"));
            body = body(binding, phase).getBytes(StandardCharsets.US_ASCII);
        }
        if (phase == Phase.BODY) {
            client.data(1, Arrays.copyOf(body, body.length - 1000), false);
        } else {
            client.data(1, body, true);
        }
    }

    private static byte[] message() {
        return Requests.frame(SendMessageRequest.newBuilder()
                .setMessage(Message.newBuilder()
                        .setMessageId("m1")
                        .setRole(Role.ROLE_USER)
                        .addParts(Part.newBuilder().setText(TEXT)))
                .build()
                .toByteArray());
    }

    private static byte[] subscription() {
        return Requests.frame(
                SubscribeToTaskRequest.newBuilder().setId("t1").build().toByteArray());
    }

    /** Waits until the patient server is in the phase. */
    private void await(Phase phase, Wait wait) throws InterruptedException {
        switch (phase) {
            case HEAD ->
                Eventually.value(
                        "a connection", () -> Holdings.of(patient, calls), holdings -> holdings.connections() == 1);
            case BODY ->
                Eventually.value("a body", () -> Holdings.of(patient, calls), holdings -> holdings.bodyBytes() > 0);
            case WAITING -> wait.awaitEntered();
            case STREAMING ->
                Eventually.value("a stream", () -> Holdings.of(patient, calls), holdings -> holdings.streams() == 1);
        }
    }

    /** Waits until nothing happens any more on a connection of the impatient server. */
    private static void awaitSilent(Phase phase, Wait wait, FullStream endless) throws InterruptedException {
        switch (phase) {
            case HEAD, BODY -> {}
            case WAITING -> {
                wait.awaitEntered();
                // Waiting for the answer is all that such a client has to do.
                assertThat(wait.isInterruptedWithin(SHORT.multipliedBy(3))).isFalse();
                wait.end();
            }
            case STREAMING ->
                assertThat(endless.isBegunWithin(Duration.ofSeconds(30))).isTrue();
        }
    }
}
