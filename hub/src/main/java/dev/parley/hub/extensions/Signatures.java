package dev.parley.hub.extensions;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.extension.HubSignatures;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Signatures by the keys of a hub; none if it has no keys. */
record Signatures(Optional<CardKeys> own) implements HubSignatures {
    @Override
    public Optional<String> sign(byte[] payload) {
        return own.map(keys -> keys.sign(payload));
    }

    @Override
    public Optional<String> sign(byte[] payload, String type, String keyId) {
        return own.map(keys -> keys.sign(payload, type, keyId));
    }

    @Override
    public Optional<String> keys() {
        return own.map(keys -> new String(keys.published(), UTF_8));
    }

    @Override
    public Verdict verify(byte[] payload, String signature, String keys, @Nullable String host) {
        return CardTrust.of(keys).verify(payload, signature, host);
    }
}
