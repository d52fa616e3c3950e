package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Body;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshError;
import dev.parley.mesh.SignedForm;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages of an agent as bytes: dated, signed and encrypted when they are sent, verified and decrypted when they are received. */
final class MessageSecurity {
    /** A message that was received, with its content as plain JSON. */
    record Received(Envelope envelope, MeshContent content) {}

    private static final int PIECES_OF_JWE = 5;

    private final OneIdentity own;
    private final InstantSource clock;

    MessageSecurity(OneIdentity own, InstantSource clock) {
        this.own = own;
        this.clock = clock;
    }

    /** The message as it is sent now. A repetition is dated and signed anew, so that it is not refused as stale. */
    byte[] written(Envelope message) {
        Envelope dated = message.at(clock.instant());
        Envelope ready = own.signing() == null ? dated : SignedForm.sign(dated, own.signing()::sign);
        return Json.write(EnvelopeModel.ENVELOPE.toJson(ready));
    }

    /**
     * Reads a message.
     *
     * @param needsSignature whether a message without signature is refused if this agent verifies signatures
     * @throws OneException {@code invalid_message} if it is malformed, or its signature or encryption is not valid
     */
    Received read(byte[] json, boolean needsSignature) {
        try {
            Envelope envelope = EnvelopeModel.ENVELOPE.fromJson(Json.read(json, Map.class));
            verify(envelope, needsSignature);
            return new Received(envelope, content(envelope));
        } catch (A2AException | IllegalArgumentException invalid) {
            throw OneException.of(MeshError.INVALID_MESSAGE, requireNonNull(invalid.getMessage()));
        }
    }

    private void verify(Envelope envelope, boolean needsSignature) {
        CardTrust trust = own.trust();
        Signature signature = envelope.metadata().signature();
        if (trust == null || signature == null && !needsSignature) {
            return;
        }
        if (signature == null) {
            throw OneException.of(MeshError.INVALID_MESSAGE, "metadata.security.signature: missing");
        }
        SignedForm.requireFresh(envelope, clock.instant());
        Verdict verdict =
                trust.verify(signature.form(), signature.jws(), envelope.from().host());
        if (!verdict.isVerified()) {
            throw OneException.of(MeshError.INVALID_MESSAGE, "metadata.security.signature: " + verdict.reason());
        }
    }

    private MeshContent content(Envelope envelope) {
        Body sent = envelope.message();
        Body body = envelope.metadata().encrypted()
                ? new Body(sent.type(), decrypted(String.valueOf(sent.content()), envelope), Envelope.JSON)
                : sent;
        // The agent encrypts its result, while the hub writes, and may encrypt, the message around it.
        MeshContent content = EnvelopeModel.content(body);
        return content instanceof Result result && result.result() instanceof String text && isForMe(text)
                ? new Result(result.taskId(), result.status(), decrypted(text, envelope), result.error())
                : content;
    }

    private boolean isForMe(String text) {
        return own.decryption() != null && text.split("\\.", -1).length == PIECES_OF_JWE && text.startsWith("eyJ");
    }

    private @Nullable Object decrypted(String jwe, Envelope envelope) {
        return decrypted(own, jwe, envelope.from().agentId());
    }

    /** @throws RuntimeException if it cannot be decrypted */
    static @Nullable Object decrypted(OneIdentity own, String jwe, String sender) {
        ContentKeys keys = own.decryption();
        if (keys == null) {
            throw new IllegalArgumentException("message.content: encrypted, and there is no key for it");
        }
        Object json = JsonText.read(keys.decrypt(jwe, sender, own.agentId()), Codecs.FREE);
        return Codecs.NULL.equals(json) ? null : json;
    }
}
