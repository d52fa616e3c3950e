package dev.parley.mesh;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.Envelope.Signature;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SignedFormTest {
    private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z");

    @Test
    @DisplayName("ONE13: the signed form is the canonical JSON of the message as received, without its signature")
    void canonicalWithoutTheSignature() {
        Map<?, ?> received = json("{\"version\":\"1.0\", \"other\":[1.0, \"é\"],"
                + "\"metadata\":{\"security\":{\"signature\":\"a..b\",\"encrypted\":false}},\"messageId\":\"m\"}");

        assertThat(new String(SignedForm.of(received), UTF_8))
                .isEqualTo("{\"messageId\":\"m\",\"metadata\":{\"security\":{\"encrypted\":false}},"
                        + "\"other\":[1,\"é\"],\"version\":\"1.0\"}");
    }

    @Test
    @DisplayName("the form that is signed is the one that the receiver reads from the wire")
    void formOfTheSenderIsThatOfTheReceiver() {
        var signed = new byte[1][];

        Envelope sent = SignedForm.sign(message(NOW), form -> {
            signed[0] = form;
            return "a..b";
        });

        byte[] wire = Json.write(EnvelopeModel.ENVELOPE.toJson(sent));
        Signature received = signature(wire);
        assertThat(received.jws()).isEqualTo("a..b");
        assertThat(new String(received.form(), UTF_8)).isEqualTo(new String(signed[0], UTF_8));
    }

    @Test
    @DisplayName("members that this version does not know, and left out ones, are signed as they are")
    void foreignMembersAreSigned() {
        String foreign =
                "{\"version\":\"1.0\",\"messageId\":\"m\",\"other\":1.0,\"from\":{\"agentId\":\"a\",\"endpoint\":\"e\"},"
                        + "\"to\":{\"agentId\":\"b\",\"endpoint\":\"e\"},\"message\":{\"type\":\"query\",\"content\":{\"query\":\"x\"}},"
                        + "\"metadata\":{\"security\":{\"signature\":\"a..b\"}}}";

        assertThat(new String(signature(foreign.getBytes(UTF_8)).form(), UTF_8))
                .isEqualTo(
                        "{\"from\":{\"agentId\":\"a\",\"endpoint\":\"e\"},\"message\":{\"content\":{\"query\":\"x\"},"
                                + "\"type\":\"query\"},\"messageId\":\"m\",\"metadata\":{\"security\":{}},\"other\":1,"
                                + "\"to\":{\"agentId\":\"b\",\"endpoint\":\"e\"},\"version\":\"1.0\"}");
    }

    @ParameterizedTest
    @ValueSource(longs = {-301, 301, 86_400})
    void staleAndFutureMessagesAreRefused(long seconds) {
        assertThatThrownBy(() -> SignedForm.requireFresh(message(NOW.plusSeconds(seconds)), NOW))
                .hasMessageContaining("timestamp")
                .hasMessageContaining("5 minutes");
    }

    @Test
    void signedMessagesNeedATimestamp() {
        SignedForm.requireFresh(message(NOW.minusSeconds(300)), NOW);

        Envelope undated = new Envelope(
                "m",
                null,
                null,
                message(NOW).from(),
                message(NOW).to(),
                message(NOW).message(),
                Handling.DEFAULT);

        assertThatThrownBy(() -> SignedForm.requireFresh(undated, NOW)).hasMessageContaining("missing");
    }

    private static Envelope message(Instant timestamp) {
        return new Envelope(
                "m",
                "c",
                timestamp,
                Party.of("planner", "https://a.example/agents/planner/one"),
                Party.of("researcher", "https://b.example/agents/researcher/one"),
                EnvelopeModel.body(new MeshContent.Query("x", Map.of("deep", Map.of("b", 1, "a", 2.5)), null)),
                Handling.DEFAULT);
    }

    private static Signature signature(byte[] wire) {
        return requireNonNull(EnvelopeModel.ENVELOPE
                .fromJson(Json.read(wire, Map.class))
                .metadata()
                .signature());
    }

    private static Map<?, ?> json(String text) {
        return Json.read(text.getBytes(UTF_8), Map.class);
    }
}
