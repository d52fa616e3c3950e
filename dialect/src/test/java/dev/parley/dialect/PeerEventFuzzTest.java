package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.LoggedEvent;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever an agent sends as an event, whichever version it says to speak, it is one, or what is wrong with it is said. */
final class PeerEventFuzzTest {
    private static final List<AgentCard.Interface> PEERS = Stream.of("1.0", "0.3", "0.2", "0.1", "kernel", "agentvault")
            .map(version -> new AgentCard.Interface("http://localhost", "JSONRPC", null, version))
            .toList();

    @MethodSource("dev.parley.dialect.Wire#everything")
    @FuzzTest(maxDuration = "2m")
    void events(byte[] data) {
        for (AgentCard.Interface peer : PEERS) {
            try {
                LoggedEvent event = WireBinding.of(peer).orElseThrow().event("1", new String(data, UTF_8));
                // None if the update cannot be read although it is one.
                assertThat(event == null ? 0 : event.sequence()).isNotNegative();
            } catch (A2AException refused) {
                assertThat(refused).hasMessageNotContaining("dev.parley");
            }
        }
    }
}
