package dev.parley.registry.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.A2AException;
import dev.parley.registry.Cards;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class CardFetchTest {
    private HttpServer server;
    private String base;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        base = "http://127.0.0.1:" + server.getAddress().getPort();
        serve("/old/.well-known/agent.json", Cards.v1("Old", "add"));
        serve("/large.json", "{\"name\":\"" + "x".repeat(CardReader.MAX_BYTES) + "\"}");
        redirect("/inside.json", "http://10.1.2.3/card.json");
        redirect("/metadata.json", "http://169.254.169.254/latest/meta-data");
        redirect("/file.json", "file:///etc/passwd");
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void serve(String path, String body) {
        server.createContext(path, exchange -> {
            byte[] bytes = body.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
    }

    private void redirect(String path, String to) {
        server.createContext(path, exchange -> {
            exchange.getResponseHeaders().set("Location", to);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        });
    }

    @Test
    @DisplayName("the card of an agent is found at the older well-known name, too")
    void olderName() {
        try (var fetch = new CardFetch(List.of(), true)) {
            assertThat(fetch.card("default", base + "/old").url()).isEqualTo(base + "/old/.well-known/agent.json");
        }
    }

    @Test
    @DisplayName("a hub for other machines does not fetch from loopback, except if it is allowed")
    void loopback() {
        try (var fetch = new CardFetch(List.of(), false);
                var allowed = new CardFetch(List.of("127.0.0.1"), false)) {
            assertThatThrownBy(() -> fetch.card("default", base + "/old"))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("fetch-allow");
            assertThat(allowed.card("default", base + "/old").bytes()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/inside.json", "/metadata.json", "/file.json", "/large.json", "/none.json"})
    @DisplayName("redirects to private addresses and other schemes, large documents and missing ones are refused")
    void refused(String path) {
        try (var fetch = new CardFetch(List.of(), true)) {
            assertThatThrownBy(() -> fetch.card("default", base + path))
                    .isInstanceOf(A2AException.class)
                    .hasMessageNotContaining("root:");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://10.0.0.1/",
                "http://[::ffff:192.168.0.1]/",
                "http://0x7f.1/",
                "http://localhost.internal/",
                "ftp://example.com/",
                "gopher://x",
                "http://a b/"
            })
    @DisplayName("private addresses in any spelling, and what is no address, are refused")
    void addresses(String url) {
        try (var fetch = new CardFetch(List.of(), false)) {
            assertThatThrownBy(() -> fetch.card("default", url)).isInstanceOf(A2AException.class);
        }
    }
}
