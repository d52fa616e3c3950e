package dev.parley.mcp.hub;

import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Arguments of tools as messages of A2A. */
final class Inputs {
    /** Schema of tools whose skill declares none. */
    static final Map<String, @Nullable Object> SCHEMA = Trees.json("""
            {"type": "object", "properties": {
              "message": {"type": "string", "description": "Text for the agent."},
              "data": {"type": "object", "description": "Structured data for the agent."},
              "files": {
                "type": "array",
                "description": "Files for the agent, each with its bytes in base64 or its address.",
                "items": {"type": "object", "properties": {
                  "name": {"type": "string", "description": "Name of the file."},
                  "mediaType": {"type": "string", "description": "Media type, such as image/png."},
                  "bytes": {"type": "string", "description": "Content in base64."},
                  "uri": {"type": "string", "description": "Address of the content."}}}},
              "contextId": {"type": "string", "description": "Conversation that the message continues, from an earlier result."},
              "taskId": {"type": "string", "description": "Task that the message continues, from an earlier result."}},
             "required": ["message"]}""");

    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);
    private static final int MOST_FILES = 100;

    private Inputs() {}

    /** The answer of a send that does not wait. */
    static SendMessage immediate(Message message) {
        return new SendMessage(null, message, AT_ONCE, Map.of());
    }

    /**
     * The message for a tool.
     *
     * @throws A2AException INVALID_PARAMS for arguments that do not fit the schema
     */
    static Message message(SkillTool tool, Map<String, @Nullable Object> arguments) {
        if (!tool.declaredInput().isEmpty()) {
            return message(tool, List.of(Part.data(arguments)));
        }
        if (!(arguments.get("message") instanceof String text)) {
            throw A2AException.invalidParams("message", "missing (expected: a text)");
        }
        var parts = new ArrayList<Part>();
        parts.add(Part.text(text));
        if (arguments.get("data") != null) {
            parts.add(Part.data(arguments.get("data")));
        }
        if (arguments.get("files") != null) {
            parts.addAll(files(arguments.get("files")));
        }
        return message(tool, parts).in(id(arguments, "contextId"), id(arguments, "taskId"));
    }

    private static Message message(SkillTool tool, List<Part> parts) {
        var metadata = new LinkedHashMap<String, @Nullable Object>();
        Map<String, @Nullable Object> named = Map.of("tool", tool.name());
        if (tool.skill() != null) {
            metadata.put("skillId", tool.skill().id()); // by which the hub authorizes
            named = Trees.with(named, "skillId", tool.skill().id());
        }
        metadata.put(SkillTool.DECLARED, named);
        Message plain = Message.of(Role.USER, parts);
        return new Message(plain.messageId(), Role.USER, parts, null, null, metadata, List.of(), List.of());
    }

    private static @Nullable String id(Map<String, @Nullable Object> arguments, String name) {
        Object id = arguments.get(name);
        if (id == null || id instanceof String text && text.isEmpty()) {
            return null;
        }
        if (id instanceof String text) {
            return text;
        }
        throw A2AException.invalidParams(name, "is no text (expected: an id of an earlier result)");
    }

    private static List<Part> files(@Nullable Object value) {
        if (!(value instanceof List<?> list) || list.size() > MOST_FILES) {
            throw A2AException.invalidParams("files", "no list (expected: at most " + MOST_FILES + " files)");
        }
        var files = new ArrayList<Part>();
        for (int i = 0; i < list.size(); i++) {
            Map<String, @Nullable Object> file = Trees.map(list.get(i));
            String name = Trees.filled(file, "name");
            String type = Trees.filled(file, "mediaType");
            String uri = Trees.filled(file, "uri");
            if (uri != null) {
                files.add(Part.link(uri, name, type));
            } else if (file.get("bytes") instanceof String bytes) {
                files.add(new Part.Raw(decoded("files[" + i + "].bytes", bytes), name, type, Map.of()));
            } else {
                throw A2AException.invalidParams("files[" + i + "]", "no content (expected: bytes or uri)");
            }
        }
        return files;
    }

    private static byte[] decoded(String field, String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException malformed) {
            throw A2AException.invalidParams(field, "malformed (expected: base64)")
                    .causedBy(malformed);
        }
    }
}
