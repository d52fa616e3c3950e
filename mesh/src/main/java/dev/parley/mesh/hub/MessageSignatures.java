package dev.parley.mesh.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.json.JsonText;
import dev.parley.dialect.spi.Notification;
import dev.parley.extension.HubSignatures;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.Envelope.Signature;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.SignedForm;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.InvalidField;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Signatures of messages: those of senders are verified against the keys of the hub and of its operator, and messages of the hub are
 * signed if its cards are. Safe for any thread.
 */
final class MessageSignatures {
    private final HubSignatures hub;
    private final List<String> trusted;
    private final InstantSource clock;

    /** @param trusted keys of senders, as the contents of files of keys */
    MessageSignatures(HubSignatures hub, List<String> trusted, InstantSource clock) {
        this.hub = hub;
        this.trusted = List.copyOf(trusted);
        this.clock = clock;
    }

    /**
     * Verifies the signature of a message; one without a signature passes.
     *
     * @throws dev.parley.protocol.A2AException {@code invalid_message} if the signature is not valid, or the message not of now
     */
    void verify(Envelope envelope) {
        Signature signature = envelope.metadata().signature();
        if (signature == null) {
            return;
        }
        try {
            SignedForm.requireFresh(envelope, clock.instant());
        } catch (InvalidField stale) {
            throw Failures.invalid(stale.field(), stale.problem());
        }
        String host = host(envelope.from().endpoint());
        List<Verdict> verdicts = Stream.concat(hub.keys().stream(), trusted.stream())
                .map(keys -> hub.verify(signature.form(), signature.jws(), keys, host))
                .toList();
        if (verdicts.stream().noneMatch(Verdict::isVerified)) {
            String reason = verdicts.isEmpty()
                    ? "no key is trusted"
                    : verdicts.stream()
                            .map(Verdict::reason)
                            .distinct()
                            .reduce((one, other) -> one + "; " + other)
                            .get();
            throw Failures.invalid(
                    "metadata.security.signature", reason + " (expected: a signature by a key of --one-trust)");
        }
    }

    private static @Nullable String host(String url) {
        try {
            String host = new URI(url).getHost();
            return host == null ? null : host.toLowerCase(Locale.ROOT);
        } catch (URISyntaxException malformed) {
            return null;
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
    Notification signed(Notification callback) {
        if (hub.keys().isEmpty()) {
            return callback;
        }
        Envelope envelope = EnvelopeModel.ENVELOPE.fromJson(Json.read(callback.body(), Map.class));
        return callback.with(JsonText.write(EnvelopeModel.ENVELOPE, signed(envelope)));
    }
}
