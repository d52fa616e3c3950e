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
import java.util.List;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub with TLS, clients of several addresses that begin handshakes and do nothing else, and an ordinary caller. */
@Tag("heavy")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HostileHandshakesTest {
    private static final int AT_ONCE = 16;
    private static final Duration MEASURED = Duration.ofSeconds(5);
    private static final Duration SEND_BOUND = Duration.ofMillis(500);
    private static final Duration HEALTH_BOUND = Duration.ofMillis(200);

    private Process process;
    private URI url;
    private byte[] hello;
    private HttpClient http;

    @BeforeAll
    void start(@TempDir Path data) throws Exception {
        Certificates server = Certificates.make(data, "server", "CN=localhost", "ip:127.0.0.1");
        SSLContext trusting = server.trustedBy(null);
        hello = hello(trusting);
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx1g",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SharedHub.class.getName(),
                        data.resolve("hub").toString(),
                        server.certificate().toString(),
                        server.key().toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        url = URI.create(output.lines()
                .filter(line -> line.startsWith("ready "))
                .findFirst()
                .orElseThrow()
                .substring("ready ".length()));
        http = HttpClient.newBuilder().sslContext(trusting).build();
    }

    @AfterAll
    void stop() throws InterruptedException {
        http.shutdownNow();
        process.destroyForcibly().waitFor();
    }

    @Test
    void aNeighbourWaitsForNoMoreThanTheBound() throws Exception {
        measured(); // warms up
        List<Duration> before = measured();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < AT_ONCE; i++) {
            String address = "127.0.0." + (i + 2);
            threads.add(Thread.ofPlatform().daemon().start(() -> shakeHands(address)));
        }
        List<Duration> beside = measured();
        threads.forEach(Thread::interrupt);

        System.out.printf("TLS_HANDSHAKES: SendMessage, /health at worst, without and beside: %s %s%n", before, beside);
        assertThat(beside.getFirst()).isLessThanOrEqualTo(SEND_BOUND);
        assertThat(beside.getLast()).isLessThanOrEqualTo(HEALTH_BOUND);
    }

    /** Sends the first message of a client and reads the answer, on new connections until interrupted. */
    private void shakeHands(String address) {
        while (!Thread.currentThread().isInterrupted()) {
            try (var socket = new Socket()) {
                socket.bind(new InetSocketAddress(address, 0));
                socket.setSoTimeout(10_000);
                socket.connect(new InetSocketAddress(url.getHost(), url.getPort()));
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

    /** Calls one after the other, and returns the longest time of a SendMessage and of a /health. */
    private List<Duration> measured() throws IOException, InterruptedException {
        Duration send = Duration.ZERO;
        Duration health = Duration.ZERO;
        for (long end = System.nanoTime() + MEASURED.toNanos(); System.nanoTime() - end < 0; ) {
            Duration one = timed(HttpRequest.newBuilder(url.resolve("/agents/echo/message:send"))
                    .header("Content-Type", "application/json")
                    .header("A2A-Version", "1.0")
                    .header("X-Api-Key", SharedHub.ORDINARY_KEY)
                    .POST(BodyPublishers.ofString("{\"message\":{\"role\":\"ROLE_USER\",\"messageId\":\""
                            + UUID.randomUUID() + "\",\"parts\":[{\"text\":\"hello\"}]}}"))
                    .build());
            Duration other =
                    timed(HttpRequest.newBuilder(url.resolve("/health")).build());
            send = send.compareTo(one) < 0 ? one : send;
            health = health.compareTo(other) < 0 ? other : health;
        }
        return List.of(send, health);
    }

    private Duration timed(HttpRequest request) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        assertThat(http.send(request, BodyHandlers.discarding()).statusCode()).isEqualTo(200);
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
