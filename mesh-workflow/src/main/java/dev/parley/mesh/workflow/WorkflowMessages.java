package dev.parley.mesh.workflow;

import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshProtocol.SendEnvelope;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages of the mesh at the address of workflows: envelopes, and the short form, which has a {@code type}. The mesh takes them as at the
 * address of each agent, with the same checks of sender, signature and repetition.
 */
final class WorkflowMessages {
    private static final String TYPE = "type";
    private static final String MESSAGE = "message";
    private static final String METADATA = "metadata";

    private WorkflowMessages() {}

    /** Whether this is a message of the mesh, instead of a document. */
    static boolean isMessage(Map<String, @Nullable Object> written) {
        return WorkflowDocument.isEnvelope(written) || written.containsKey(TYPE);
    }

    /**
     * The message, with what a short form leaves out.
     *
     * @param url address of the agent {@code one}
     * @throws InvalidField if it is not a message with a document
     */
    static Envelope envelope(Map<String, @Nullable Object> written, CallContext caller, String url) {
        var filled = new LinkedHashMap<>(written);
        if (!WorkflowDocument.isEnvelope(written)) {
            var document = new LinkedHashMap<>(written);
            filled.clear();
            for (String member :
                    new String[] {"version", "messageId", "correlationId", "timestamp", "from", "to", METADATA}) {
                if (document.containsKey(member)) {
                    filled.put(member, document.remove(member));
                }
            }
            var message = new LinkedHashMap<String, @Nullable Object>();
            message.put(TYPE, document.remove(TYPE));
            message.put("content", document);
            filled.put(MESSAGE, message);
        }
        filled.putIfAbsent("version", Envelope.VERSION);
        filled.putIfAbsent("messageId", Ids.next(Instant.now()));
        fillParty(filled, "from", caller.caller(), "");
        fillParty(filled, "to", WorkflowProtocol.AGENT, url);
        Envelope envelope = EnvelopeModel.ENVELOPE.fromJson(filled);
        if (envelope.message().type() != MessageType.COORDINATION) {
            throw InvalidField.of(
                    WorkflowDocument.isEnvelope(written) ? "message.type" : TYPE,
                    envelope.message().type().word() + " (expected: coordination)");
        }
        return envelope;
    }

    private static void fillParty(Map<String, @Nullable Object> members, String name, String agent, String endpoint) {
        Object given = members.get(name);
        if (given == null || given instanceof String) {
            members.put(name, Map.of("agentId", given == null ? agent : given, "endpoint", endpoint));
        }
    }

    /** Delivers a message to its receiver, and returns the id of the run that it has begun. */
    static String delivered(Envelope envelope, AgentEndpoint receiver, CallContext caller) {
        Envelope answer = receiver.call(SendEnvelope.of(envelope), caller);
        return EnvelopeModel.content(answer.message()) instanceof MeshContent.Acceptance acceptance
                ? acceptance.taskId()
                : "";
    }
}
