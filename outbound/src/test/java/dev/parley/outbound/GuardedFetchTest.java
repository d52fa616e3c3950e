package dev.parley.outbound;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class GuardedFetchTest {
    private static final Map<String, String> KEY = Map.of("Authorization", "Bearer secret");

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<HttpExchange> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private String url;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void serve(String path, int status, Map<String, String> headers, byte[] body) {
        server.createContext(path, exchange -> {
            requests.add(exchange);
            headers.forEach(exchange.getResponseHeaders()::set);
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            try (exchange) {
                exchange.getResponseBody().write(body);
            } catch (IOException cut) {
                throw new UncheckedIOException(cut);
            }
        });
    }

    private static GuardedFetch fetching(String... allowed) {
        return new GuardedFetch(AddressRule.allowing(List.of(allowed)), Duration.ofSeconds(10), 1000);
    }

    @Test
    void fetchesADocumentWithItsTypeAndItsAddressBehindRedirects() throws Exception {
        serve("/a", 302, Map.of("Location", "b?x=1"), new byte[0]);
        serve("/b", 200, Map.of("Content-Type", "Text/HTML; charset=\"utf-8\""), "<p>ø".getBytes(UTF_8));

        try (GuardedFetch fetch = fetching("127.0.0.1")) {
            Document document = fetch.get("g", url + "/a", KEY);

            assertThat(document.url()).isEqualTo(url + "/b?x=1");
            assertThat(document.mediaType()).isEqualTo("text/html");
            assertThat(document.charset()).isEqualTo("utf-8");
            assertThat(new String(document.body(), UTF_8)).isEqualTo("<p>ø");
            assertThat(requests.getLast().getRequestHeaders().getFirst("Authorization"))
                    .isEqualTo("Bearer secret");
        }
    }

    @Test
    void refusesPrivateAddressesAlsoBehindARedirect() {
        serve("/a", 302, Map.of("Location", "http://10.0.0.1/"), new byte[0]);
        serve("/b", 302, Map.of("Location", "http://[::1]:1/"), new byte[0]);

        try (GuardedFetch open = fetching("127.0.0.1");
                GuardedFetch closed = fetching()) {
            assertThatThrownBy(() -> closed.get("g", url + "/a", Map.of())).hasMessageContaining("a loopback address");
            assertThat(requests).isEmpty();
            assertThatThrownBy(() -> open.get("g", url + "/a", Map.of())).hasMessageContaining("10.0.0.1 is a private");
            assertThatThrownBy(() -> open.get("g", url + "/b", Map.of()))
                    .hasMessageContaining("is the loopback address");
        }
    }

    @Test
    void givesCredentialsToNoOtherHost() throws Exception {
        server.stop(0);
        server = HttpServer.create(new InetSocketAddress(0), 0);
        server.setExecutor(threads);
        server.start();
        int port = server.getAddress().getPort();
        serve("/a", 307, Map.of("Location", "http://127.0.0.2:" + port + "/b"), new byte[0]);
        serve("/b", 200, Map.of(), "seen".getBytes(UTF_8));

        try (GuardedFetch fetch = fetching("127.0.0.0/8")) {
            assertThat(fetch.get("g", "http://127.0.0.1:" + port + "/a", KEY).body())
                    .isEqualTo("seen".getBytes(UTF_8));
            assertThat(requests.getLast().getRequestHeaders()).doesNotContainKey("Authorization");
        }
    }

    @Test
    void postsToTheAddressAndFollowsNoRedirect() throws Exception {
        server.createContext("/search", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            try (exchange) {
                exchange.getResponseBody().write(body);
            }
        });
        serve("/moved", 307, Map.of("Location", "http://10.0.0.1/"), new byte[0]);

        try (GuardedFetch open = fetching("127.0.0.1");
                GuardedFetch closed = fetching()) {
            assertThat(open.post("g", url + "/search", KEY, "{}".getBytes(UTF_8))
                            .body())
                    .isEqualTo("{}".getBytes(UTF_8));
            assertThat(open.post("g", url + "/moved", KEY, new byte[0]).status())
                    .isEqualTo(307);
            assertThatThrownBy(() -> closed.post("g", url + "/search", KEY, new byte[0]))
                    .hasMessageContaining("a loopback address");
        }
    }

    @Test
    void endsWithoutADocument() {
        serve("/large", 200, Map.of(), new byte[1001]);
        serve("/loop", 302, Map.of("Location", "/loop"), new byte[0]);
        serve("/nowhere", 302, Map.of("Location", "file:///etc/passwd"), new byte[0]);
        var never = new CountDownLatch(1);
        server.createContext("/silent", exchange -> {
            try {
                never.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });

        try (GuardedFetch fetch = fetching("127.0.0.1");
                var hasty =
                        new GuardedFetch(AddressRule.allowing(List.of("127.0.0.1")), Duration.ofMillis(300), 1000)) {
            assertThatThrownBy(() -> fetch.get("g", url + "/large", Map.of()))
                    .hasMessageContaining("larger than 1000 bytes");
            assertThatThrownBy(() -> fetch.get("g", url + "/loop", Map.of())).hasMessageContaining("5 redirects");
            assertThatThrownBy(() -> fetch.get("g", url + "/nowhere", Map.of()))
                    .hasMessageContaining("redirects to an address that is not one");
            assertThatThrownBy(() -> fetch.get("g", "file:///etc/passwd", Map.of()))
                    .isInstanceOf(A2AException.class);
            assertThatThrownBy(() -> hasty.get("g", url + "/silent", Map.of())).hasMessageContaining("no answer");
        } finally {
            never.countDown();
        }
    }
}
