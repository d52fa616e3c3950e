package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.mesh.Delegations;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Body;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An agent that sends and receives messages, with its keys.
 *
 * @param endpoint address that takes its messages
 * @param signing signs its messages; null for none
 * @param decryption decrypts content for it; null for none
 * @param trust verifies messages of others; null to accept them unverified
 */
public record OneIdentity(
        String agentId,
        String endpoint,
        @Nullable CardKeys signing,
        @Nullable ContentKeys decryption,
        @Nullable CardTrust trust) {
    public OneIdentity {
        requireNonNull(agentId, "agentId");
        requireNonNull(endpoint, "endpoint");
    }

    /** An agent without keys. */
    public static OneIdentity of(String agentId, String endpoint) {
        return new OneIdentity(agentId, endpoint, null, null, null);
    }

    /** Signs all messages by the first of these keys. */
    public OneIdentity signing(CardKeys keys) {
        return new OneIdentity(agentId, endpoint, keys, decryption, trust);
    }

    /** Decrypts content by these keys. */
    public OneIdentity decrypting(ContentKeys keys) {
        return new OneIdentity(agentId, endpoint, signing, keys, trust);
    }

    /** Verifies signatures by these keys, and accepts only signed callbacks. */
    public OneIdentity trusting(CardTrust keys) {
        return new OneIdentity(agentId, endpoint, signing, decryption, keys);
    }

    /**
     * Decrypts the content that another agent has encrypted for this one, in a message of A2A as a hub hands it on.
     *
     * @throws OneException {@code invalid_message} if it cannot be decrypted
     */
    public MeshContent decrypted(Message message) {
        Map<?, ?> members = members(message);
        MessageType type =
                MessageType.QUERY.word().equals(members.get("type")) ? MessageType.QUERY : MessageType.TASK_DELEGATION;
        try {
            Object plain = MessageSecurity.decrypted(this, message.text(), String.valueOf(members.get("from")));
            return EnvelopeModel.content(new Body(type, plain, Envelope.JSON));
        } catch (A2AException | IllegalArgumentException invalid) {
            throw OneException.of(MeshError.INVALID_MESSAGE, String.valueOf(invalid.getMessage()));
        }
    }

    /**
     * Encrypts a result for the sender of a message, as a part for the answer of this agent.
     *
     * @param result JSON, as maps, lists, strings, numbers, booleans and null
     * @param sender public key of the sender
     */
    public Part encrypted(@Nullable Object result, Message message, ContentKeys sender) {
        String jwe = sender.encrypt(
                Json.write(result), agentId, String.valueOf(members(message).get("from")));
        return new Part.Text(jwe, null, Envelope.ENCRYPTED, Map.of());
    }

    private static Map<?, ?> members(Message message) {
        return message.metadata().get(Delegations.URI) instanceof Map<?, ?> members ? members : Map.of();
    }

    Party party() {
        return Party.of(agentId, endpoint);
    }
}
