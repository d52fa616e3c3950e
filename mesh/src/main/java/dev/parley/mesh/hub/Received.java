package dev.parley.mesh.hub;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Body;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Notice;
import dev.parley.mesh.MeshContent.Query;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Content and limits of received messages. */
final class Received {
    private static final Pattern JWE = Pattern.compile("[\\w-]+\\.[\\w-]*(\\.[\\w-]+){3}");

    private Received() {}

    static MeshContent content(Envelope envelope) {
        Body body = envelope.message();
        if (envelope.metadata().encrypted() || body.mimeType().equals(Envelope.ENCRYPTED)) {
            return encrypted(envelope);
        }
        if (!body.mimeType().equals(Envelope.JSON)) {
            return text(body);
        }
        try {
            return EnvelopeModel.content(body);
        } catch (A2AException wrong) {
            throw wrong.inWords(path -> path.isEmpty() ? "message.content" : "message.content." + path, text -> text);
        }
    }

    /** Content that only the agent can read, as the text of a query. */
    private static Query encrypted(Envelope envelope) {
        Body body = envelope.message();
        if (!envelope.metadata().encrypted() || !body.mimeType().equals(Envelope.ENCRYPTED)) {
            throw MeshErrors.invalid(
                    "message.mimeType",
                    '"' + body.mimeType() + "\" (expected: \"" + Envelope.ENCRYPTED
                            + "\" if metadata.security.encrypted is true, and only then)");
        }
        if (body.type() != MessageType.TASK_DELEGATION && body.type() != MessageType.QUERY) {
            throw MeshErrors.invalid(
                    "message.type",
                    '"' + body.type().word() + "\" (expected: task_delegation or query, as it is encrypted)");
        }
        if (!(body.content() instanceof String jwe) || !JWE.matcher(jwe).matches()) {
            throw MeshErrors.invalid("message.content", "no compact JWE (expected: one, as the content is encrypted)");
        }
        return new Query(jwe, Map.of(), null);
    }

    /** Content that is not JSON: the text of a query, or of a response. */
    private static MeshContent text(Body body) {
        if (!(body.content() instanceof String text)) {
            throw MeshErrors.invalid("message.content", "no text (expected: a text, as the media type is no JSON)");
        }
        return switch (body.type()) {
            case QUERY -> new Query(text, Map.of(), null);
            case RESPONSE -> new Response(text, null, null);
            default ->
                throw MeshErrors.invalid(
                        "message.mimeType", '"' + body.mimeType() + "\" (expected: \"" + Envelope.JSON + "\")");
        };
    }

    static void requireShort(String path, @Nullable String id) {
        if (id != null && id.length() > Operation.LONGEST_ID) {
            throw MeshErrors.invalid(
                    path, id.length() + " characters (expected: at most " + Operation.LONGEST_ID + ")");
        }
    }

    static void requireShort(Notice notice) {
        int length = Json.write(notice.members()).length;
        if (length > Events.LONGEST_CONTENT) {
            throw MeshErrors.invalid(
                    "message.content",
                    length + " bytes (expected: at most " + Events.LONGEST_CONTENT + ", as it becomes an event)");
        }
    }
}
