package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.WireAnswer;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CorsTest {
    private static final String OURS = "https://app.example.com";
    private static final String PREFLIGHT =
            "OPTIONS /echo HTTP/1.1\nHost: x\nOrigin: %s\nAccess-Control-Request-Method: POST\n\n";
    private static final String CALL = "GET /echo HTTP/1.1\nHost: x\nOrigin: %s\n\n";

    @Test
    void pagesMayNotCallUnlessAllowed() throws IOException {
        try (var server = TestServer.builder().start();
                var client = RawClient.to(server)) {
            var call = client.send(CALL.formatted(OURS)).answer();
            var preflight = client.send(PREFLIGHT.formatted(OURS)).answer();

            assertThat(call.headers()).doesNotContainKeys("access-control-allow-origin", "vary");
            assertThat(preflight.status()).isEqualTo(405);
        }
    }

    @Test
    void pagesOfAnAllowedOriginMayCall() throws IOException {
        try (var server = TestServer.builder().corsOrigins(List.of(OURS)).start();
                var client = RawClient.to(server)) {
            var preflight = client.send(PREFLIGHT.formatted(OURS)).answer();
            var call = client.send(CALL.formatted(OURS)).answer();

            assertThat(preflight.status()).isEqualTo(204);
            assertThat(preflight.headers())
                    .containsEntry("access-control-allow-origin", OURS)
                    .containsEntry("access-control-allow-credentials", "true")
                    .containsEntry("access-control-max-age", "600");
            assertThat(preflight.headers()).doesNotContainKey("access-control-allow-headers");
            assertThat(preflight.headers().get("access-control-allow-methods")).contains("POST");
            assertThat(call.headers())
                    .containsEntry("access-control-allow-origin", OURS)
                    .containsEntry("vary", "Origin");
        }
    }

    @Test
    void pagesOfOtherOriginsStillMayNot() throws IOException {
        try (var server = TestServer.builder().corsOrigins(List.of(OURS)).start();
                var client = RawClient.to(server)) {
            var preflight =
                    client.send(PREFLIGHT.formatted("https://evil.example")).answer();
            var call = client.send(CALL.formatted("https://evil.example")).answer();

            assertThat(preflight.headers()).doesNotContainKey("access-control-allow-origin");
            assertThat(call.headers())
                    .doesNotContainKey("access-control-allow-origin")
                    .containsEntry("vary", "Origin");
        }
    }

    @Test
    void whereAnyPageMayCallNoneBringsCredentials() throws IOException {
        try (var server = TestServer.builder().corsOrigins(List.of("*")).start();
                var client = RawClient.to(server)) {
            var call = client.send(CALL.formatted(OURS)).answer();

            assertThat(call.headers())
                    .containsEntry("access-control-allow-origin", "*")
                    .doesNotContainKey("access-control-allow-credentials");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mcp-protocol-version,mcp-session-id,last-event-id,x-api-key,content-type",
                "authorization, a2a-extensions, a2a-version, traceparent",
                "x-of-an-extension-to-come"
            })
    @DisplayName("C14 pages of an allowed origin may send the header fields of every protocol")
    void requested(String names) throws IOException {
        for (String setting : List.of(OURS, OURS.toUpperCase(Locale.ROOT) + "/", "*")) {
            try (var server = TestServer.builder().corsOrigins(List.of(setting)).start();
                    var client = RawClient.to(server)) {
                var preflight =
                        client.send(preflight("/agents/none", OURS, names)).answer();

                assertThat(preflight.status()).isEqualTo(204);
                assertThat(preflight.headers())
                        .containsEntry("access-control-allow-headers", names)
                        .containsKey("access-control-allow-origin");
                assertThat(preflight.headers().get("vary")).contains("Access-Control-Request-Headers");
                assertThat(preflight.headers().containsKey("access-control-allow-credentials"))
                        .isNotEqualTo(setting.equals("*"));
            }
        }
    }

    @Test
    @DisplayName("S68 pages of other origins get no fields, and a list that is not one is not repeated")
    void refused() throws IOException {
        try (var server = TestServer.builder().corsOrigins(List.of(OURS)).start();
                var client = RawClient.to(server)) {
            for (String origin :
                    List.of("https://evil.example", "null", OURS + ".evil.example", "http://app.example.com")) {
                assertThat(client.send(preflight("/echo", origin, "x-api-key"))
                                .answer()
                                .headers()
                                .keySet())
                        .as(origin)
                        .noneMatch(name -> name.startsWith("access-control"));
            }
            assertThat(client.send(preflight("/echo", OURS, "x: y; <script>"))
                            .answer()
                            .headers())
                    .doesNotContainKey("access-control-allow-headers");
        }
    }

    @Test
    @DisplayName("C14 pages of an allowed origin may read the header fields that an answer has, whichever they are")
    void exposed() throws IOException {
        try (var server = TestServer.builder()
                        .corsOrigins(List.of(OURS))
                        .handler(
                                "/session",
                                (request, body) -> new WireAnswer.Whole(
                                        200,
                                        Map.of(
                                                "Mcp-Session-Id", "1",
                                                "Content-Type", "text/plain",
                                                "Cache-Control", "no-store",
                                                "Retry-After", "1"),
                                        new byte[0]))
                        .start();
                var client = RawClient.to(server)) {
            var call = client.send("GET /session HTTP/1.1\nHost: x\nOrigin: " + OURS + "\n\n")
                    .answer();

            assertThat(call.headers()).containsEntry("access-control-expose-headers", "Mcp-Session-Id, Retry-After");
        }
    }

    private static String preflight(String path, String origin, String names) {
        return "OPTIONS " + path + " HTTP/1.1\nHost: x\nOrigin: " + origin
                + "\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: " + names + "\n\n";
    }
}
