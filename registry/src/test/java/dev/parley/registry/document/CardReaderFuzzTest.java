package dev.parley.registry.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.protocol.A2AException;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Resource;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes are a document with a name and a digest, or are refused. */
final class CardReaderFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        Cards.v1("Translator", "translate"),
                        "{\"name\":\"old\",\"description\":\"d\",\"url\":\"https://a.example/\",\"version\":\"1\","
                                + "\"protocolVersion\":\"0.3.0\",\"preferredTransport\":\"JSONRPC\",\"capabilities\":{},"
                                + "\"defaultInputModes\":[],\"defaultOutputModes\":[],\"skills\":[]}",
                        "{\"schemaVersion\":\"1.0\",\"humanReadableId\":\"org/agent\",\"agentVersion\":\"1.0.0\",\"name\":\"v\","
                                + "\"description\":\"d\",\"url\":\"https://a.example/a2a\",\"provider\":{\"name\":\"p\"},"
                                + "\"capabilities\":{\"a2aVersion\":\"1.0\"},\"authSchemes\":[{\"scheme\":\"none\"}]}",
                        "{\"name\":\"com.example/weather\",\"description\":\"x\",\"version\":\"1.0.0\"}")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void documents(byte[] bytes) {
        for (String type : List.of(Entry.AGENT_CARD, "application/mcp-server-card+json")) {
            try {
                Resource resource =
                        CardReader.read(type, bytes, null, null, Map.of()).resource();
                assertThat(resource.name()).isNotEmpty();
                assertThat(resource.digest()).matches("sha256:[0-9a-f]{64}");
            } catch (A2AException refused) {
                assertThat(refused.error().httpStatus()).isEqualTo(400);
            }
        }
    }
}
