package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two hubs with TLS, and an ordinary caller of each. Clients of several addresses begin handshakes at one of the hubs and do
 * nothing else. The other hub is the control: it runs at the same time on the same machine, and nothing else delays its calls.
 */
@Tag("heavy")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HostileHandshakesTest {
    private static final int AT_ONCE = 16;
    private static final Duration MEASURED = Duration.ofSeconds(5);

    /** Bound of the calls of the hub, in those of the control: without turns of handshakes they take 40 times as long. */
    private static final int FACTOR = 5;

    /** Shorter times differ by chance. */
    private static final Duration NOISE = Duration.ofMillis(20);

    private record RunningHub(Process process, URI url) {}

    /** Times that 90 % of the calls of a kind take at most. */
    private record Latencies(Duration send, Duration health) {}

    private record Measured(Latencies hub, Latencies control) {}

    private RunningHub hub;
    private RunningHub control;
    private byte[] hello;
    private HttpClient http;

    @BeforeAll
    void start(@TempDir Path data) throws Exception {
        Certificates server = Certificates.make(data, "server", "CN=localhost", "ip:127.0.0.1");
        SSLContext trusting = server.trustedBy(null);
        hello = hello(trusting);
        Process hostile = start(data.resolve("hub"), server);
        Process other = start(data.resolve("control"), server);
        hub = ready(hostile);
        control = ready(other);
        http = HttpClient.newBuilder().sslContext(trusting).build();
    }

    private static Process start(Path data, Certificates server) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx1g",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SharedHub.class.getName(),
                        data.toString(),
                        server.certificate().toString(),
                        server.key().toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static RunningHub ready(Process process) {
        var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        return new RunningHub(
                process,
                URI.create(output.lines()
                        .filter(line -> line.startsWith("ready "))
                        .findFirst()
                        .orElseThrow()
                        .substring("ready ".length())));
    }

    @AfterAll
    void stop() throws InterruptedException {
        http.shutdownNow();
        control.process.destroyForcibly().waitFor();
        hub.process.destroyForcibly().waitFor();
    }

    @Test
    void callsBesideHandshakesTakeAboutAsLongAsThoseOfAnotherHub() throws Exception {
        measured(); // warms up
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < AT_ONCE; i++) {
            String address = "127.0.0." + (i + 2);
            threads.add(Thread.ofPlatform().daemon().start(() -> shakeHands(address)));
        }

        Measured beside = measured();

        threads.forEach(Thread::interrupt);
        System.out.printf("TLS_HANDSHAKES: SendMessage, /health at 90 %%, of the hub and the control: %s%n", beside);
        assertThat(beside.hub.send).isLessThanOrEqualTo(bound(beside.control.send));
        assertThat(beside.hub.health).isLessThanOrEqualTo(bound(beside.control.health));
    }

    private static Duration bound(Duration control) {
        return (control.compareTo(NOISE) < 0 ? NOISE : control).multipliedBy(FACTOR);
    }

    /** Sends the first message of a client and reads the answer, on new connections until interrupted. */
    private void shakeHands(String address) {
        while (!Thread.currentThread().isInterrupted()) {
            try (var socket = new Socket()) {
                socket.bind(new InetSocketAddress(address, 0));
                socket.setSoTimeout(10_000);
                socket.connect(new InetSocketAddress(hub.url.getHost(), hub.url.getPort()));
                socket.getOutputStream().write(hello);
                assertThat(socket.getInputStream().read()).isPositive();
            } catch (IOException ended) {
                // by the server, which may
            }
        }
    }

    /** Returns the first message of a client, which costs the server a signature and the clients nothing. */
    private static byte[] hello(SSLContext context) throws IOException {
        var engine = context.createSSLEngine("localhost", 443);
        engine.setUseClientMode(true);
        var message = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), message);
        return Arrays.copyOf(message.array(), message.position());
    }

    /** Calls the hub and the control at the same time. */
    private Measured measured() throws Exception {
        var beside = CompletableFuture.supplyAsync(() -> measured(control.url));
        return new Measured(measured(hub.url), beside.get());
    }

    /** Calls one after the other. */
    private Latencies measured(URI url) {
        var sends = new ArrayList<Duration>();
        var healths = new ArrayList<Duration>();
        for (long end = System.nanoTime() + MEASURED.toNanos(); System.nanoTime() - end < 0; ) {
            sends.add(timed(HttpRequest.newBuilder(url.resolve("/agents/echo/message:send"))
                    .header("Content-Type", "application/json")
                    .header("A2A-Version", "1.0")
                    .header("X-Api-Key", SharedHub.ORDINARY_KEY)
                    .POST(BodyPublishers.ofString("{\"message\":{\"role\":\"ROLE_USER\",\"messageId\":\""
                            + UUID.randomUUID() + "\",\"parts\":[{\"text\":\"hello\"}]}}"))
                    .build()));
            healths.add(timed(HttpRequest.newBuilder(url.resolve("/health")).build()));
        }
        return new Latencies(at90(sends), at90(healths));
    }

    private static Duration at90(List<Duration> times) {
        Collections.sort(times);
        return times.get(times.size() * 9 / 10);
    }

    private Duration timed(HttpRequest request) {
        long begun = System.nanoTime();
        assertThat(http.sendAsync(request, BodyHandlers.discarding()).join().statusCode())
                .isEqualTo(200);
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
