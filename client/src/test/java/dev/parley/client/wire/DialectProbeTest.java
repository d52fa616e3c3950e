package dev.parley.client.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.RawServer;
import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class DialectProbeTest {
    @ParameterizedTest
    @CsvSource({
        "SendMessage, 1.0",
        "message/send, 0.3",
        "tasks/send, 0.1",
    })
    void anAgentWithoutCardIsKnownByTheMethodsItKnows(String method, String version) throws IOException {
        try (var server = cardless(Set.of(method));
                var client = AgentClient.connect(server.url("/rpc"))) {
            assertThat(client.address().protocolVersion()).isEqualTo(version);
            assertThat(client.address().url()).isEqualTo(server.url("/rpc"));
        }
    }

    @Test
    void theNewestVersionCounts() throws IOException {
        try (var server = cardless(Set.of("tasks/send", "message/send"));
                var client = AgentClient.connect(server.url("/"))) {
            assertThat(client.address().protocolVersion()).isEqualTo("0.3");
        }
    }

    @Test
    void whoKnowsNoneIsNoAgent() throws IOException {
        try (var server = cardless(Set.of("add"))) {
            var refused = catchThrowableOfType(ClientException.class, () -> AgentClient.connect(server.url("/")));

            assertThat(refused.problem()).isEqualTo(Problem.CARD_NOT_FOUND);
        }
    }

    /** A server of JSON-RPC that shows no card; to a call that lacks everything it says so, and does nothing. */
    private static RawServer cardless(Set<String> methods) throws IOException {
        return new RawServer(connection -> {
            for (Request request = connection.request(); request != null; request = connection.request()) {
                if (!request.line().startsWith("POST")) {
                    connection.answer(404, "nothing here");
                    continue;
                }
                assertThat(request.text()).contains("\"params\":{}");
                String asked = request.text();
                boolean known = methods.stream().anyMatch(method -> asked.contains('"' + method + '"'));
                connection.answer(
                        200,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"error\":{\"code\":" + (known ? -32602 : -32601)
                                + ",\"message\":\"no\"}}",
                        "Content-Type: application/json");
            }
        });
    }
}
