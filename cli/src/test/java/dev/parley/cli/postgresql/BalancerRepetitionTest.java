package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.cli.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Repetitions by nginx and HAProxy, with the configurations of {@code deploy/}, of calls that a hub receives and does not answer. */
@Tag("heavy")
@Timeout(60)
final class BalancerRepetitionTest {
    private static final int BAD_GATEWAY = 502;

    /** Calls without an id that tells a repetition. */
    private static final List<String> SENT_ONCE = List.of(
            "/admin/keys",
            "/agents/echo/mcp",
            "/agents/echo/agentvault",
            "/agents/echo/%61gentvault",
            "/agents/one/one/workflows",
            "/agents/one/one/workflows/w-1/repeat");

    @TempDir
    private Path directory;

    private final List<HttpServer> hubs = new ArrayList<>();
    private final AtomicInteger received = new AtomicInteger();

    @BeforeEach
    void start() throws IOException {
        for (int hub = 0; hub < 3; hub++) {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::answer);
            server.start();
            hubs.add(server);
        }
    }

    @AfterEach
    void stop() {
        hubs.forEach(hub -> hub.stop(0));
    }

    /** Answers reads, and breaks the connection of all other calls, except those of a route whose agent failed. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(200, -1);
                return;
            }
            received.incrementAndGet();
            if (exchange.getRequestURI().getPath().equals("/agents/route")) {
                exchange.sendResponseHeaders(BAD_GATEWAY, -1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyCallsWithAnIdAreRepeatedAfterTheyWereReceived(Balancer.Kind kind) throws Exception {
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Certificates.selfSigned(chain, key);
        int port = DebianPostgresql.freePort();
        List<Integer> ports =
                hubs.stream().map(hub -> hub.getAddress().getPort()).toList();
        try (Balancer balancer = new Balancer(kind, directory.resolve("balancer"), chain, key, port, ports);
                HttpClient client = HttpClient.newBuilder()
                        .sslContext(Certificates.trusting(chain))
                        .build()) {
            String url = "https://127.0.0.1:" + port;
            assertThat(status(client, HttpRequest.newBuilder(URI.create(url + "/agents"))))
                    .isEqualTo(Answer.OK); // so that connections have served other calls

            for (String path : SENT_ONCE) {
                received.set(0);
                assertThat(post(client, url + path)).as(balancer.log()).isEqualTo(BAD_GATEWAY);
                assertThat(received).as(path).hasValue(1);
            }
            received.set(0);
            assertThat(post(client, url + "/agents/route")).isEqualTo(BAD_GATEWAY);
            assertThat(received).hasValue(1);
            received.set(0);
            post(client, url + "/agents/echo");
            assertThat(received).hasValueGreaterThan(1);
        }
    }

    private static int post(HttpClient client, String url) throws InterruptedException {
        return status(client, HttpRequest.newBuilder(URI.create(url)).POST(BodyPublishers.ofString("{}")));
    }

    private static int status(HttpClient client, HttpRequest.Builder request) throws InterruptedException {
        try {
            return client.send(request.build(), BodyHandlers.discarding()).statusCode();
        } catch (IOException noAnswer) {
            return Answer.NONE;
        }
    }
}
