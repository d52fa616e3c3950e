package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of extensions whose connection is lost, read by the client. */
@Timeout(60)
final class ExtensionResumptionTest {
    private record Watch(long after) implements Operation.ExtensionWatch<Long> {
        @Override
        public String name() {
            return "ticker/watch";
        }
    }

    private static final JsonForm<Watch> WATCH = JsonForm.object(json -> new Watch(0), watch -> Map.of());
    private static final JsonForm<Long> TICK = JsonForm.object(
            json -> requireNonNull((Number) json.get("tick")).longValue(), tick -> Map.of("tick", tick));

    private static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
            "/extensions/ticker/v1",
            ExtensionMethod.stream("ticker/watch", Watch.class, WATCH, TICK)
                    .rest("POST /ticks:watch")
                    .grpc("ticker.v1.Ticker/Watch")
                    .resumable(tick -> Long.toString(tick), (watch, id) -> new Watch(Long.parseLong(id))));

    /** Numbers up to a limit that grows. */
    private static final class Ticker {
        private final List<Long> opened = new ArrayList<>();
        private long limit = 2;

        synchronized Feed<Long> watch(Watch watch, CallContext caller) {
            opened.add(watch.after());
            return new Ticks(watch.after());
        }

        synchronized void raise(long other) {
            limit = other;
            notifyAll();
        }

        synchronized List<Long> opened() {
            return List.copyOf(opened);
        }

        private final class Ticks implements Feed<Long> {
            private long last;
            private boolean closed;

            Ticks(long after) {
                this.last = after;
            }

            @Override
            public @Nullable List<Long> next(Duration patience) throws InterruptedException {
                synchronized (Ticker.this) {
                    Instant end = Instant.now().plus(patience);
                    while (!closed && last >= limit && Instant.now().isBefore(end)) {
                        Ticker.this.wait(
                                Math.max(1, Duration.between(Instant.now(), end).toMillis()));
                    }
                    if (closed) {
                        return null;
                    }
                    return last >= limit ? List.of() : List.of(++last);
                }
            }

            @Override
            public void close() {
                synchronized (Ticker.this) {
                    closed = true;
                    Ticker.this.notifyAll();
                }
            }
        }
    }

    /** Passes connections on until they are cut. */
    private static final class Wire implements AutoCloseable {
        private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> open = new CopyOnWriteArrayList<>();
        /** Port of the hub, which is free until it starts. */
        private final int hub;

        Wire() throws IOException {
            try (var free = new ServerSocket(0)) {
                hub = free.getLocalPort();
            }
            Thread.startVirtualThread(() -> {
                try {
                    while (true) {
                        Socket client = listening.accept();
                        var server = new Socket(InetAddress.getLoopbackAddress(), hub);
                        open.addAll(List.of(client, server));
                        pass(client, server);
                        pass(server, client);
                    }
                } catch (IOException closed) {
                    // the test is over
                }
            });
        }

        private static void pass(Socket from, Socket to) {
            Thread.startVirtualThread(() -> {
                try (from;
                        to) {
                    from.getInputStream().transferTo(to.getOutputStream());
                } catch (IOException cut) {
                    // so the other direction ends, too
                }
            });
        }

        String url() {
            return "http://127.0.0.1:" + listening.getLocalPort();
        }

        void cut() throws IOException {
            for (Socket socket : open) {
                socket.close();
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
            cut();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName("a client resumes a stream of an extension after the last element, over each binding")
    void aCutStreamGoesOn(String binding) throws Exception {
        var ticker = new Ticker();
        var extension = AgentExtension.of(PROTOCOL, "Counts").watch(Watch.class, ticker::watch);
        try (var wire = new Wire();
                Hub hub = Hub.builder()
                        .inMemory()
                        .port(wire.hub)
                        .publicUrl(wire.url())
                        .grpcOnCards(true)
                        .extensions(List.of(extension))
                        .agents(Agent.named("open", "Echoes").handle((request, reply) -> reply.complete("")))
                        .start()) {
            assertThat(hub.url()).isEqualTo(wire.url());
            try (AgentClient client = AgentClient.builder()
                            .extension(PROTOCOL)
                            .prefer(binding)
                            .connect(wire.url() + "/agents/open");
                    Feed<Long> ticks = client.watch(new Watch(0), CallContext.anonymous())) {
                assertThat(elements(ticks, 2)).containsExactly(1L, 2L);

                wire.cut();
                ticker.raise(4);

                assertThat(elements(ticks, 2)).containsExactly(3L, 4L);
                assertThat(ticker.opened()).containsExactly(0L, 2L);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 4", "true, 1"})
    @DisplayName("a client ends with a stream that has ended, and does not resume it after its last element")
    void aStreamThatHasEndedEnds(boolean marked, int connections) throws Exception {
        var opened = new ArrayList<Long>();
        var method = ExtensionMethod.stream("ticker/watch", Watch.class, WATCH, TICK)
                .rest("POST /ticks:watch")
                .resumable(tick -> Long.toString(tick), (watch, id) -> new Watch(Long.parseLong(id)));
        ExtensionProtocol protocol =
                ExtensionProtocol.of("/extensions/ticker/v1", marked ? method.endingWith(tick -> tick == 2) : method);
        var extension = AgentExtension.of(protocol, "Counts").watch(Watch.class, (watch, caller) -> {
            opened.add(watch.after());
            return Feed.of(watch.after() == 0 ? List.of(1L, 2L) : List.of());
        });
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .extensions(List.of(extension))
                        .agents(Agent.named("open", "Echoes").handle((request, reply) -> reply.complete("")))
                        .start();
                AgentClient client = AgentClient.builder().extension(protocol).connect(hub.url() + "/agents/open");
                Feed<Long> ticks = client.watch(new Watch(0), CallContext.anonymous())) {
            assertThat(elements(ticks, 3)).containsExactly(1L, 2L);
            assertThat(ticks.next(Duration.ofSeconds(1))).isNull();
            assertThat(opened).hasSize(connections);
        }
    }

    private static List<Long> elements(Feed<Long> feed, int count) throws InterruptedException {
        var elements = new ArrayList<Long>();
        Instant deadline = Instant.now().plusSeconds(30);
        while (elements.size() < count && Instant.now().isBefore(deadline)) {
            List<Long> next = feed.next(Duration.ofSeconds(1));
            if (next == null) {
                break;
            }
            elements.addAll(next);
        }
        return elements;
    }
}
