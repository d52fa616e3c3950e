package dev.parley.mcp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.Revision;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that have not answered the discovery when the client offers them a session. */
@Timeout(60)
@Tag("heavy")
class LateDiscoveryTest {
    private static final String ERA_OF_SESSIONS =
            "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}";

    /** A server that answers the discovery only before it answers the first {@code initialize}. */
    private static final String SCRIPT = """
            while IFS= read -r line; do
              id=${line#*'"id":'}; id=${id%%,*}
              method=${line#*'"method":"'}; method=${method%%'"'*}
              case $method in
                server/discover) discovery=$id;;
                initialize)
                  if [ -n "$discovery" ] && [ -n "$DISCOVERED" ]; then
                    echo '{"jsonrpc":"2.0","id":'$discovery','$DISCOVERED'}'
                  fi
                  discovery=
                  echo '{"jsonrpc":"2.0","id":'$id','$INITIALIZED'}';;
                tools/list) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}';;
              esac
            done
            """;

    @TempDir
    Path directory;

    @AfterEach
    void noThreads() {
        Leftovers.assertNone();
    }

    private McpClient connected(String discovered, String initialized) throws InterruptedException {
        var program = new StdioTransport.Program(
                "sh",
                List.of("sh", "-c", SCRIPT),
                Map.of("PATH", System.getenv("PATH"), "DISCOVERED", discovered, "INITIALIZED", initialized),
                directory);
        return McpClient.connect(
                () -> StdioTransport.start(program, line -> {}, () -> {}),
                new McpClient.Limits(Duration.ofMillis(100), Faults.LIMIT),
                null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted",
                "Unsupported protocol version",
                ""
            })
    void aServerThatStartedSlowlyIsSpokenToInTheRevisionThatItDiscloses(String refusal) throws Exception {
        try (McpClient client = connected(
                "\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}",
                "\"error\":{\"code\":-32600,\"message\":\"" + refusal + "\"}")) {
            assertThat(client.revision()).isEqualTo(Revision.V2026_07_28);
            assertThat(client.tools().tools()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"error\":{\"code\":-32601,\"message\":\"unknown\"}", ""})
    void aServerOfTheOlderEraThatStartedSlowlyGetsItsSession(String discovered) throws Exception {
        try (McpClient client = connected(discovered, ERA_OF_SESSIONS)) {
            assertThat(client.revision()).isEqualTo(Revision.V2025_11_25);
            assertThat(client.tools().tools()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"error\":{\"code\":-32601,\"message\":\"unknown\"}",
                "\"result\":{\"supportedVersions\":[\"2031-01-01\"],\"capabilities\":{}}",
                "\"result\":7",
                ""
            })
    void theRefusalOfASessionIsReportedIfTheDiscoveryBringsNothing(String discovered) {
        assertThatThrownBy(() -> connected(discovered, "\"error\":{\"code\":-32000,\"message\":\"no license\"}"))
                .isInstanceOf(McpException.class)
                .hasMessageContaining("no license");
    }
}
