package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever bytes come, they are read or refused in the words of the protocol. */
final class DecoderFuzzTest {
    private static final List<String> ADDRESSES = List.of("", "/kernel", "/agentvault");
    private static final List<String> PATHS = List.of(
            "/message:send",
            "/message:stream",
            "/tasks/t/pushNotificationConfigs",
            "/v1/message:send",
            "/v1/message:stream");
    private static final List<AgentCard.Interface> PEERS = Stream.of("1.0", "0.3", "0.2", "0.1", "kernel", "agentvault")
            .map(version -> new AgentCard.Interface("http://localhost", "JSONRPC", null, version))
            .toList();

    static Stream<byte[]> examples() {
        return Stream.of("v1", "v03", "v03proto", "v01", "kernel", "agentvault")
                .flatMap(dialect -> Wire.examples(dialect, ".json").stream().map(name -> Wire.example(dialect, name)));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void requestsOverJsonRpc(byte[] body) {
        ADDRESSES.forEach(address -> answer(address, body));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void requestsOverRest(byte[] body) {
        PATHS.forEach(path -> answer(path, body));
    }

    private static void answer(String path, byte[] body) {
        var exchange = new Exchange().inEveryDialect().with("Content-Type", "application/json");
        exchange.endpoint.answers = LegacyFuzzTest::answer;

        if (exchange.send("POST", path, body) instanceof WireAnswer.Whole whole) {
            assertThat(whole.status()).isNotEqualTo(500);
            assertThat(new String(whole.body(), UTF_8)).doesNotContain("(reference ");
        }
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void cards(byte[] card) {
        try {
            assertThat(Json.readCard(card)).isNotNull();
        } catch (A2AException refused) {
            assertThat(refused).hasMessageNotContaining("dev.parley");
        }
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void eventsOfPeers(byte[] data) {
        for (AgentCard.Interface peer : PEERS) {
            try {
                assertThat(Binding.of(peer).orElseThrow().event("1", new String(data, UTF_8)))
                        .isNotNull();
            } catch (A2AException refused) {
                assertThat(refused).hasMessageNotContaining("dev.parley");
            }
        }
    }
}
