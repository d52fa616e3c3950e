package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.client.Leftovers;
import dev.parley.mcp.client.McpClient;
import dev.parley.mcp.client.RawServer;
import dev.parley.mcp.client.RawServer.Answer;
import dev.parley.mcp.client.RawServer.Request;
import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerConnectionsTest {
    private final Set<Integer> authorizations = ConcurrentHashMap.newKeySet();

    private @Nullable Answer answer(String url, Request request) {
        String origin = url.substring(0, url.length() - "/mcp".length());
        String path = request.line().replaceFirst("\\w+ ([^ ]+) .*", "$1");
        if (!path.equals("/mcp")) {
            authorizations.add(request.connection());
        }
        return switch (path) {
            case "/.well-known/oauth-protected-resource/mcp" ->
                json("{\"resource\":\"" + url + "\",\"authorization_servers\":[\"" + origin + "\"]}");
            case "/.well-known/oauth-authorization-server" ->
                json("{\"issuer\":\"" + origin + "\",\"token_endpoint\":\"" + origin + "/token\"}");
            case "/token" -> json("{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":3600}");
            default ->
                request.headers().containsKey("authorization")
                        ? null
                        : RawServer.whole(401, "text/plain", "token".getBytes(UTF_8), "WWW-Authenticate: Bearer\r\n");
        };
    }

    private static Answer json(String body) {
        return RawServer.whole(200, "application/json", body.getBytes(UTF_8));
    }

    @Test
    @DisplayName("a server that is connected to again and again leaves no clients, connections or threads behind")
    void connectingAgainLeavesNothingBehind() throws Exception {
        try (var server = new RawServer(true);
                var connections = new ServerConnections()) {
            server.fail(request -> answer(server.url().toString(), request));
            var entry = new ServersFile.Entry(
                    "raw",
                    List.of(),
                    Map.of(),
                    null,
                    server.url(),
                    Map.of(),
                    new ServersFile.OAuthClient("id", "secret", null, null),
                    null,
                    Duration.ofSeconds(10),
                    List.of());
            for (int i = 0; i < 50; i++) {
                try (McpClient client = connections.connect(entry, line -> {}, () -> {})) {
                    assertThat(client.tools().tools()).hasSize(1);
                }
            }

            assertThat(authorizations).as("connections for tokens").hasSizeLessThan(5);
            Eventually.value("open connections, at most 5", server::open, open -> open <= 5);
            Leftovers.assertNone();
        }
    }
}
