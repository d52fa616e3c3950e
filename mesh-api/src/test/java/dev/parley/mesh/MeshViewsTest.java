package dev.parley.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mesh.MeshViews.ConnectionType;
import dev.parley.mesh.MeshViews.ListConnections;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.ObjectCodec;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class MeshViewsTest {
    private static Set<Set<ConnectionType>> types() {
        return Set.of(Set.of(), Set.of(ConnectionType.DELEGATED_TO), EnumSet.allOf(ConnectionType.class));
    }

    @ParameterizedTest
    @MethodSource("types")
    void typesOfConnectionsAreReadAsTheyAreWritten(Set<ConnectionType> types) {
        var request = new ListConnections(types, null, 10);
        ObjectCodec<ListConnections> codec = connections();

        assertThat(codec.fromJson(codec.toJson(request))).isEqualTo(request);
    }

    @Test
    void metadataOfEventsAreReadAsTheyAreWritten() {
        Map<String, Object> metadata = Map.of(
                "messageId", "m-1",
                "messageType", "conflict",
                "correlationId", "c-1",
                "protocol", "one",
                "alias", "agent_message_received",
                "notRecordedBefore", 3L,
                "content", Map.of("about", "soup"));

        Object json = EventMetadata.CODEC.toJson(metadata);

        assertThat(json).asString().contains("soup");
        assertThat(String.valueOf(EventMetadata.CODEC.fromJson(json))).contains("notRecordedBefore=3", "about=soup");
        assertThat(EventMetadata.CODEC.fromJson(json)).hasSameSizeAs(metadata).containsEntry("messageType", "conflict");
    }

    @SuppressWarnings("unchecked") // the row of these requests
    private static ObjectCodec<ListConnections> connections() {
        return MeshViews.METHODS.stream()
                .filter(method -> method.name().equals("one/connections"))
                .map(ExtensionMethod::request)
                .map(codec -> (ObjectCodec<ListConnections>) codec)
                .findFirst()
                .orElseThrow();
    }
}
