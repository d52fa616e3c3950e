package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.Notification;
import dev.parley.extension.HubSignatures;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.SignedForm;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.json.JsonText;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Signatures of messages: those of senders are verified against the key set that signs their cards (of this hub, or of one that the
 * operator names) and the keys of the operator, and messages of the hub are signed if its cards are. Safe for any thread.
 */
final class MessageSignatures implements AutoCloseable {
    private static final String PATH = "metadata.security.signature";

    private final HubSignatures hub;
    private final Trust trust;
    private final SenderKeys senders;
    private final InstantSource clock;

    /**
     * Keys of senders.
     *
     * @param keys contents of files of keys
     * @param hubs addresses of hubs that publish the keys of their agents
     * @param isRequired whether messages without a signature are refused
     */
    record Trust(List<String> keys, List<String> hubs, boolean isRequired) {}

    MessageSignatures(HubSignatures hub, Trust trust, InstantSource clock) {
        this.hub = hub;
        this.trust = trust;
        this.senders = new SenderKeys(trust.hubs(), clock);
        this.clock = clock;
    }

    /**
     * Verifies the signature of a message; one without a signature passes unless signatures are required.
     *
     * @param hubUrl address of this hub, whose keys count for senders below it
     * @throws dev.parley.protocol.A2AException {@code invalid_message} if the signature is not valid, or the message not of now
     */
    void verify(Envelope envelope, String hubUrl, String group) {
        Signature signature = envelope.metadata().signature();
        if (signature == null) {
            if (trust.isRequired()) {
                throw MeshErrors.invalid(PATH, "missing (expected: a signature, as this hub requires one)");
            }
            return;
        }
        try {
            SignedForm.requireFresh(envelope, clock.instant());
        } catch (InvalidField stale) {
            throw MeshErrors.invalid(stale.field(), stale.problem());
        }
        Party sender = envelope.from();
        String endpoint = sender.endpoint();
        var reasons = new LinkedHashSet<String>();
        Stream<String> own = endpoint.startsWith(hubUrl + "/") ? hub.keys().stream() : Stream.of();
        if (Stream.concat(own, trust.keys().stream()).anyMatch(keys -> isBy(keys, signature, sender, reasons))) {
            return;
        }
        String published = senders.of(endpoint, group, null);
        if (published != null && !isBy(published, signature, sender, reasons)) {
            String renewed = senders.of(endpoint, group, published);
            published = published.equals(renewed) || !isBy(renewed, signature, sender, reasons) ? null : renewed;
        }
        if (published == null) {
            throw MeshErrors.invalid(
                    PATH,
                    (reasons.isEmpty() ? "no key is trusted" : String.join("; ", reasons))
                            + " (expected: a signature by a key of --one-trust, or of a hub of --one-trust-hosts)");
        }
    }

    private boolean isBy(@Nullable String keys, Signature signature, Party sender, Set<String> reasons) {
        try {
            Verdict verdict = hub.verify(signature.form(), signature.jws(), requireNonNull(keys), sender.host());
            reasons.add(verdict.reason());
            return verdict.isVerified();
        } catch (IllegalArgumentException noKeys) { // of another hub; files were read at the start
            reasons.add("the key set of the sender is malformed");
            return false;
        }
    }

    /** A message of the hub, signed now if the hub has a key. */
    Envelope signed(Envelope envelope) {
        return hub.keys().isEmpty()
                ? envelope
                : SignedForm.sign(
                        envelope.at(clock.instant()), form -> hub.sign(form).orElseThrow());
    }

    /** A callback with a signature of now: repeated attempts are signed anew, so that they are not stale. */
    Notification signed(Notification callback, Envelope envelope) {
        return hub.keys().isEmpty()
                ? callback
                : callback.with(JsonText.write(EnvelopeModel.ENVELOPE, signed(envelope)));
    }

    @Override
    public void close() {
        senders.close();
    }
}
