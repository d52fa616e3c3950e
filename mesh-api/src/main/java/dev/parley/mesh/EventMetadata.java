package dev.parley.mesh;

import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.FREE;
import static dev.parley.protocol.json.Codecs.TEXT;

import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Metadata of the events of a mesh, as a map by the names of its members. */
final class EventMetadata {
    /** Texts that each event has. */
    private static final List<String> REQUIRED = List.of("messageId", "messageType", "correlationId", "protocol");

    /** Texts that some events have. */
    private static final List<String> OPTIONAL =
            List.of("taskId", "via", "refused", "code", "status", "ontologyType", "alias");

    /** Number of calls before the event that have no event. */
    private static final String LEFT = "notRecordedBefore";

    /** Content of a message for the whole group, which its sender writes. */
    private static final String CONTENT = "content";

    static final Codec<Map<String, Object>> CODEC = codec();

    private EventMetadata() {}

    private static Codec<Map<String, Object>> codec() {
        var shape = ObjectCodec.<Map<String, Object>>of();
        REQUIRED.forEach(name -> shape.required(name, TEXT, members -> String.valueOf(members.getOrDefault(name, ""))));
        OPTIONAL.forEach(name ->
                shape.optional(name, TEXT, members -> members.get(name) instanceof String text ? text : null));
        return shape.optional(
                        LEFT,
                        COUNT,
                        members -> members.get(LEFT) instanceof Number number ? (Long) number.longValue() : null)
                .optional(CONTENT, FREE, members -> members.get(CONTENT))
                .as(EventMetadata::members);
    }

    private static Map<String, Object> members(ObjectCodec.Values values) {
        var members = new LinkedHashMap<String, Object>();
        REQUIRED.forEach(name -> members.put(name, values.next()));
        OPTIONAL.forEach(name -> put(members, name, values.next()));
        put(members, LEFT, values.next());
        put(members, CONTENT, values.next());
        return members;
    }

    private static void put(Map<String, Object> members, String name, @Nullable Object value) {
        if (value != null) {
            members.put(name, value);
        }
    }
}
