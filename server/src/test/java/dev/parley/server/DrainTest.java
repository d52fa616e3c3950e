package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DrainTest {
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final ScriptedEvents events = new ScriptedEvents();

    @Test
    void aRunningRequestFinishesWhileNewOnesAreRefused() throws Exception {
        var server = server();
        try (var running = RawClient.to(server);
                var other = RawClient.to(server)) {
            other.send("GET /ready HTTP/1.1\nHost: x\n\n");
            assertThat(other.answer().status()).isEqualTo(200);
            running.send("GET /slow HTTP/1.1\nHost: x\n\n");

            var drain = drainBegun(server);

            other.send("GET /ready HTTP/1.1\nHost: x\n\n");
            var notReady = other.answer();
            assertThat(notReady.status()).isEqualTo(503);
            assertThat(notReady.body()).isEqualTo("{\"status\":\"draining\"}");
            assertThat(other.isClosedByServer()).isTrue();

            mayGo.countDown();
            var answer = running.answer();
            assertThat(answer.body()).isEqualTo("done");
            assertThat(answer.headers()).containsEntry("connection", "close");
            assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
        }
    }

    @Test
    void newWorkOfAgentsOnAnOldConnectionIsRefusedForNow() throws Exception {
        var refused = answerWhileDraining("/agents/echo");

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.headers()).containsKey("retry-after");
    }

    @Test
    void whatIsNoAgentsAnswersToTheEnd() throws Exception {
        assertThat(answerWhileDraining("/echo").status()).isEqualTo(200);
    }

    private RawClient.Answer answerWhileDraining(String path) throws Exception {
        var server = server();
        try (var running = RawClient.to(server);
                var other = RawClient.to(server)) {
            other.send("GET /health HTTP/1.1\nHost: x\n\n");
            assertThat(other.answer().status()).isEqualTo(200);
            running.send("GET /slow HTTP/1.1\nHost: x\n\n");
            var drain = drainBegun(server);

            var answer = other.send("GET " + path + " HTTP/1.1\nHost: x\n\n").answer();

            mayGo.countDown();
            assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
            return answer;
        }
    }

    /** A server of Helidon is never collected: a thread of it goes on. */
    @Test
    void aServerThatHasStoppedHoldsNoHandler() throws Exception {
        WeakReference<?> handler = handlerOfAStoppedServer();

        Eventually.within(Duration.ofSeconds(20), "the handler is collected", () -> {
            System.gc();
            return handler.get() == null;
        });
    }

    private static WeakReference<?> handlerOfAStoppedServer() throws IOException {
        var calls = new AtomicInteger();
        Server server = TestServer.builder()
                .handler("/counted", (request, input) -> TestServer.text("" + calls.incrementAndGet()))
                .refusals(calls::addAndGet)
                .start();
        try (var client = RawClient.to(server)) {
            assertThat(client.send("GET /counted HTTP/1.1\nHost: x\n\n")
                            .answer()
                            .body())
                    .isEqualTo("1");
        }
        server.close();
        return new WeakReference<>(calls);
    }

    @Test
    void aRunningRequestOfHttp2FinishesToo() throws Exception {
        var server = server();
        try (var http = HttpClient.newHttpClient()) {
            var health = URI.create("http://127.0.0.1:" + server.port() + "/health");
            http.send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding());
            var running = http.sendAsync(
                    HttpRequest.newBuilder(health.resolve("/slow")).build(), BodyHandlers.ofString());

            var drain = drainBegun(server);
            var refused = http.send(
                    HttpRequest.newBuilder(health.resolve("/agents/echo")).build(), BodyHandlers.ofString());
            mayGo.countDown();

            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(running.get(10, TimeUnit.SECONDS).version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(running.get().body()).isEqualTo("done");
            assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
        }
    }

    @Test
    void aStreamThatIsCutShortSaysSoBeforeItEnds() throws Exception {
        var server = server();
        try (var client = RawClient.to(server)) {
            client.send("GET /events HTTP/1.1\nHost: x\n\n").head();
            client.chunk();

            server.close();

            assertThat(client.chunk()).contains("UNAVAILABLE");
            assertThat(client.chunk()).isEmpty();
            assertThat(events.isClosedWithin(Duration.ofSeconds(10))).isTrue();
        }
    }

    @Test
    void whatDoesNotFinishInTimeIsInterrupted() throws Exception {
        var server = server();
        try (var client = RawClient.to(server)) {
            client.send("GET /slow HTTP/1.1\nHost: x\n\n");
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();

            server.drain(Duration.ofMillis(100));

            assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(client.isClosedInTheEnd()).isTrue();
        }
    }

    @Test
    void closingTwiceIsClosingOnce() {
        var server = server();
        var port = server.port();

        server.close();
        server.close();

        try (var next = TestServer.builder().port(port).start()) {
            assertThat(next.port()).isEqualTo(port);
        }
    }

    @Test
    void clientsThatConnectWhileAServerClosesGetAnAnswerOrAnEnd() throws Exception {
        int port;
        try (var first = TestServer.builder().start()) {
            port = first.port();
        }
        var answered = new AtomicInteger();
        Queue<String> silent = new ConcurrentLinkedQueue<>();
        var isOver = new AtomicBoolean();
        try (var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 8; i++) {
                var unused = clients.submit(() -> {
                    while (!isOver.get()) {
                        call(port, answered, silent);
                    }
                });
            }
            for (int i = 0; i < 60 && silent.isEmpty(); i++) {
                try (var server = TestServer.builder().port(port).start()) {
                    int before = answered.get();
                    Eventually.holds("a client is answered", () -> answered.get() > before);
                }
            }
            isOver.set(true);
        }

        assertThat(silent).isEmpty();
    }

    private static void call(int port, AtomicInteger answered, Queue<String> silent) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream()
                    .write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            if (socket.getInputStream().read() >= 0) {
                answered.incrementAndGet();
            }
        } catch (SocketTimeoutException neither) {
            silent.add(neither.toString());
        } catch (IOException end) {
            // refused, or cut
        }
    }

    private Server server() {
        return TestServer.builder()
                .handler("/slow", (request, body) -> {
                    entered.countDown();
                    try {
                        mayGo.await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                    }
                    return TestServer.text("done");
                })
                .handler("/events", (request, body) -> events.answer())
                .start();
    }

    /** Has it stop as soon as the slow request is there, and waits until the port is closed. */
    private Thread drainBegun(Server server) throws InterruptedException {
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        var drain = Thread.ofVirtual().start(() -> server.drain(Duration.ofSeconds(30)));
        Eventually.asserted(
                "the port is closed",
                () -> assertThatThrownBy(() -> RawClient.to(server).close()).isInstanceOf(IOException.class));
        return drain;
    }
}
