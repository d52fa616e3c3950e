package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

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
            assertThat(preflight.headers().get("access-control-allow-headers"))
                    .contains("A2A-Version", "Last-Event-ID");
            assertThat(preflight.headers().get("access-control-allow-methods")).contains("POST");
            assertThat(call.headers())
                    .containsEntry("access-control-allow-origin", OURS)
                    .containsEntry("vary", "Origin");
            assertThat(call.headers().get("access-control-expose-headers")).contains("A2A-Extensions");
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
}
