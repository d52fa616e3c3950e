package dev.parley.mesh;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.JsonText;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes are not an envelope, or one that is written and read as the same one. */
final class EnvelopeFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "{\"version\":\"1.0\",\"messageId\":\"m\",\"timestamp\":1767600000000,"
                                + "\"from\":{\"agentId\":\"a\",\"endpoint\":\"e\",\"capabilities\":[\"x\"]},"
                                + "\"to\":{\"agentId\":\"b\",\"endpoint\":\"e\"},\"message\":{\"type\":\"task_delegation\","
                                + "\"content\":{\"task\":\"t\",\"parameters\":{\"a\":[1,2.5,null]},\"deadline\":1767600600000}},"
                                + "\"metadata\":{\"priority\":\"high\",\"timeout\":1,\"retryPolicy\":{\"maxRetries\":3,"
                                + "\"backoff\":\"linear\"},\"security\":{\"encrypted\":false,\"signature\":\"a..b\"}}}",
                        "{\"version\":\"1.0\",\"messageId\":\"m\",\"from\":{\"agentId\":\"a\",\"endpoint\":\"e\"},"
                                + "\"to\":{\"agentId\":\"b\",\"endpoint\":\"e\"},\"message\":{\"type\":\"status_update\","
                                + "\"content\":{\"taskId\":\"t\",\"progress\":40}}}",
                        "{\"version\":\"1.0\",\"message\":{\"type\":\"query\",\"content\":null}}")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void envelopes(byte[] json) {
        Envelope envelope;
        try {
            envelope = JsonText.request(json, EnvelopeModel.ENVELOPE);
        } catch (A2AException refused) {
            return;
        }
        byte[] written = JsonText.write(EnvelopeModel.ENVELOPE, envelope);
        Envelope again = JsonText.read(written, EnvelopeModel.ENVELOPE);

        assertThat(again.messageId()).isEqualTo(envelope.messageId());
        assertThat(again.correlationId()).isEqualTo(envelope.correlationId());
        assertThat(again.from().agentId()).isEqualTo(envelope.from().agentId());
        assertThat(again.to().agentId()).isEqualTo(envelope.to().agentId());
        assertThat(again.message()).isEqualTo(envelope.message());
        assertThat(jws(again)).isEqualTo(jws(envelope));
        try {
            assertThat(EnvelopeModel.content(envelope.message()).type())
                    .isEqualTo(envelope.message().type());
        } catch (A2AException | InvalidField refused) {
            assertThat(refused.getMessage()).isNotBlank();
        }
    }

    private static String jws(Envelope envelope) {
        Signature signature = envelope.metadata().signature();
        return signature == null ? "" : signature.jws();
    }
}
