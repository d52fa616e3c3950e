package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom a browser may call for. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrowserRuleTest {
    private static final String FRIEND = "https://app.example.com";

    private final Server server = TestServer.builder()
            .publicUrl("https://agents.example.com/hub")
            .allowedHosts(List.of("Box.lan"))
            .corsOrigins(List.of(FRIEND))
            .start();

    @AfterAll
    void stop() {
        server.close();
    }

    private int get(String host) throws IOException {
        try (var client = RawClient.to(server)) {
            return client.send("GET /echo HTTP/1.1\nHost: " + host + "\n\n")
                    .answer()
                    .status();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:7420",
                "localhost.",
                "127.0.0.1",
                "127.9.9.9:1",
                "[::1]:7420",
                "agents.example.com",
                "echo.agents.example.com",
                "echo.localhost:7420",
                "box.lan",
            })
    @DisplayName("S67: names of this machine, of the public URL, of agents below them, and those allowed are answered")
    void ourNamesAreAnswered(String host) throws IOException {
        assertThat(get(host)).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "evil.example:7420",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
                "agents.example.com.evil.example",
                "a.b.agents.example.com",
                "example.com",
                "10.0.0.1",
                "",
                "localhost@evil.example",
                "[::1].evil.example",
            })
    @DisplayName("S67: names that others let point here are not")
    void namesOfOthersAreRefused(String host) throws IOException {
        assertThat(get(host)).isBetween(400, 403);
    }

    @Test
    void whoIsRefusedIsToldWhatIsExpected() throws IOException {
        try (var client = RawClient.to(server)) {
            var answer = client.send("GET /echo HTTP/1.1\nHost: evil.example\nA2A-Version: 1.0\n\n")
                    .answer();

            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.body())
                    .contains("PERMISSION_DENIED", "expected: localhost")
                    .doesNotContain("evil");
        }
    }

    @Test
    void addressesThatOtherMachinesReachHaveNamesThatNobodyKnows() throws IOException {
        try (var open = TestServer.builder()
                        .bindAddress("0.0.0.0")
                        .allowedHosts(List.of())
                        .start();
                var client = RawClient.to(open)) {
            assertThat(client.send("GET /echo HTTP/1.1\nHost: any.example\n\n")
                            .answer()
                            .status())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Origin: https://evil.example,                                       403",
        "Origin: null,                                                       403",
        "Origin: http://localhost:3000,                                      403",
        "Origin: https://app.example.com.evil.example,                       403",
        "Sec-Fetch-Site: cross-site,                                         403",
        "Sec-Fetch-Site: same-site,                                          403",
        "'Origin: https://evil.example\nSec-Fetch-Site: cross-site',         403",
        "'Origin: http://localhost:7420\nSec-Fetch-Site: cross-site',        403",
        "X-Test: no browser,                                                 200",
        "Origin: http://localhost:7420,                                      200",
        "Origin: https://app.example.com,                                    200",
        "'Origin: https://app.example.com\nSec-Fetch-Site: cross-site',      200",
        "'Origin: https://agents.example.com\nSec-Fetch-Site: same-origin',  200",
        "Sec-Fetch-Site: none,                                               200",
    })
    @DisplayName("S68: only pages of our own and of allowed origins change something")
    void pagesOfStrangersChangeNothing(String headers, int status) throws IOException {
        try (var client = RawClient.to(server)) {
            client.send("POST /echo HTTP/1.1\nHost: localhost:7420\nContent-Length: 0\n" + headers + "\n\n");

            assertThat(client.answer().status()).isEqualTo(status);
        }
    }

    @Test
    @DisplayName("S70: answers are for nobody to guess at, embed, or keep")
    void answersTellBrowsersWhatTheyAre() throws IOException {
        for (var request : List.of("GET /echo", "GET /nothing", "GET /health", "BREW /echo")) {
            try (var own = TestServer.builder().start();
                    var client = RawClient.to(own)) {
                var answer =
                        client.send(request + " HTTP/1.1\nHost: localhost\n\n").answer();

                assertThat(answer.headers())
                        .as(request)
                        .containsEntry("x-content-type-options", "nosniff")
                        .containsEntry("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
                        .containsEntry("referrer-policy", "no-referrer")
                        .containsEntry("cross-origin-resource-policy", "same-origin")
                        .containsEntry("cache-control", "no-store")
                        .doesNotContainKeys("strict-transport-security", "server");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRACE /echo",
                "CONNECT example.com:443",
                "CONNECT /echo",
                "OPTIONS /echo",
                "OPTIONS *",
                "BREW /echo"
            })
    @DisplayName("S71: verbs that nobody needs are refused")
    void oddVerbsAreNotAllowed(String request) throws IOException {
        try (var client = RawClient.to(server)) {
            var answer = client.send(request + " HTTP/1.1\nHost: localhost\n\n").answer();

            assertThat(answer.status()).isEqualTo(405);
            assertThat(answer.headers().get("allow")).contains("GET");
        }
    }
}
