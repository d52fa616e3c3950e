package dev.parley.trust.cards;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The keys that are trusted to sign cards, each for some hosts or for all. Nothing else counts: addresses and keys in a card are
 * ignored, and nothing is fetched. Safe for any thread.
 *
 * <p>Source: A2A specification 1.0, section 8.4.3; RFC 7515, section 5.2; RFC 8725, section 3.1.
 */
public final class CardTrust implements CardVerifier {
    /** Limit of signatures on a card, more than a change of keys needs; each costs a verification. */
    private static final int MAX_SIGNATURES = 16;

    private static final int MAX_JWS = 4096;
    private static final int SHOWN = 200;

    private final List<CardKey> keys;
    private final InstantSource clock;

    CardTrust(List<CardKey> keys, InstantSource clock) {
        this.keys = List.copyOf(keys);
        this.clock = clock;
    }

    /**
     * Trusts the keys in files: JWKs, JWK sets, or public keys in PEM. Keys with {@code nbf} or {@code exp} are trusted only
     * in their time, revoked keys never, and keys with {@code hosts} only for cards from there.
     *
     * @throws java.io.UncheckedIOException if one of the files cannot be read
     * @throws IllegalArgumentException if they hold anything else
     */
    public static CardTrust read(List<Path> files) {
        var keys = new ArrayList<CardKey>();
        files.forEach(file -> keys.addAll(KeyFile.read(file)));
        return new CardTrust(keys, InstantSource.system());
    }

    /**
     * Trusts the keys in the text of such a file.
     *
     * @throws IllegalArgumentException if it holds anything else
     */
    public static CardTrust of(String keys) {
        return new CardTrust(KeyFile.parse(keys), InstantSource.system());
    }

    /** Trusts no key: cards are unsigned, or cannot be verified. */
    public static CardTrust none() {
        return new CardTrust(List.of(), InstantSource.system());
    }

    /**
     * Returns public keys as an entry of a file that {@link #read} takes, that limits the trust to some hosts.
     *
     * @throws IllegalArgumentException if the text holds anything else than keys
     */
    public static byte[] entry(String keys, List<String> hosts) {
        var bound = new ArrayList<Map<String, Object>>();
        for (CardKey key : KeyFile.parse(keys)) {
            Map<String, Object> members = key.published().toJSONObject();
            members.put(KeyFile.HOSTS, List.copyOf(hosts));
            bound.add(members);
        }
        return Json.write(Map.of("keys", bound));
    }

    @Override
    public Verdict verify(byte[] card) {
        return verify(card, null);
    }

    @Override
    public Verdict verify(byte[] card, @Nullable String host) {
        try {
            if (!(Json.read(card, Map.class).get("signatures") instanceof List<?> signatures) || signatures.isEmpty()) {
                return new Verdict(Outcome.UNSIGNED, null, "it has no signatures");
            }
            CardPayload payload = CardPayload.of(card);
            return decisive(signatures.stream()
                    .limit(MAX_SIGNATURES)
                    .map(signature -> verdict(signature, payload, host))
                    .toList());
        } catch (A2AException malformed) {
            return unverifiable(null, "it is not a well-formed card: " + shown(String.valueOf(malformed.getMessage())));
        }
    }

    /**
     * Judges the signature of a payload.
     *
     * @param jws in the compact form with a detached payload
     * @param host in lower case, for which its signer speaks; null if that is unknown
     */
    public Verdict verify(byte[] payload, String jws, @Nullable String host) {
        String[] pieces = jws.split("\\.", -1);
        if (jws.length() > MAX_JWS || pieces.length != 3 || !pieces[1].isEmpty()) {
            return unverifiable(null, "the signature is no compact JWS without payload");
        }
        return verdict(Map.of("protected", pieces[0], "signature", pieces[2]), new CardPayload(payload, payload), host);
    }

    /** One valid signature suffices; an invalid one of a trusted key outweighs those of unknown keys. */
    private static Verdict decisive(List<Verdict> verdicts) {
        for (Outcome outcome : List.of(Outcome.VERIFIED, Outcome.TAMPERED)) {
            for (Verdict verdict : verdicts) {
                if (verdict.outcome() == outcome) {
                    return verdict;
                }
            }
        }
        String reasons = verdicts.stream().map(Verdict::reason).distinct().collect(Collectors.joining("; "));
        return unverifiable(verdicts.getFirst().keyId(), reasons);
    }

    private static Verdict unverifiable(@Nullable String keyId, String reason) {
        return new Verdict(Outcome.UNVERIFIABLE, keyId, reason);
    }

    private Verdict verdict(@Nullable Object signature, CardPayload payload, @Nullable String host) {
        if (!(signature instanceof Map<?, ?> members)
                || !(members.get("protected") instanceof String protectedHeader)
                || !(members.get("signature") instanceof String encoded)) {
            return unverifiable(null, "a signature has no protected header, or no value");
        }
        Map<?, ?> header;
        byte[] signed;
        try {
            header = Json.read(Base64.getUrlDecoder().decode(protectedHeader), Map.class);
            signed = Base64.getUrlDecoder().decode(encoded);
        } catch (A2AException | IllegalArgumentException malformed) {
            return unverifiable(null, "a signature is not in the form of a JWS");
        }
        if (!(header.get("alg") instanceof String alg) || !(header.get("kid") instanceof String kid)) {
            return unverifiable(null, "a signature does not name its algorithm (alg) or its key (kid)");
        }
        if (header.containsKey("crit")) {
            return unverifiable(null, "a signature insists on extensions (crit), of which none is known");
        }
        JwsAlgorithm algorithm = JwsAlgorithm.named(alg);
        if (algorithm == null) {
            return unverifiable(null, "algorithm " + shown(alg) + " is not accepted");
        }
        List<Verdict> verdicts = keys.stream()
                .filter(key -> key.id().equals(kid))
                .map(key -> key.isFor(host)
                        ? verdict(key, algorithm, protectedHeader, signed, payload)
                        : unverifiable(key.id(), elsewhere(key, host)))
                .toList();
        return verdicts.isEmpty() ? unverifiable(null, "key " + shown(kid) + " is not trusted") : decisive(verdicts);
    }

    private Verdict verdict(CardKey key, JwsAlgorithm algorithm, String header, byte[] signed, CardPayload payload) {
        String name = "key " + shown(key.id());
        String fault = key.fault(clock.instant());
        if (fault != null || !key.suits(algorithm)) {
            return unverifiable(key.id(), name + " is " + (fault == null ? "not for " + algorithm.label() : fault));
        }
        if (key.hasSigned(algorithm, header, payload.whole(), signed)) {
            return new Verdict(
                    Outcome.VERIFIED, key.id(), name + " has signed it (" + algorithm.label() + ")" + bounds(key));
        }
        if (!Arrays.equals(payload.whole(), payload.found())
                && key.hasSigned(algorithm, header, payload.found(), signed)) {
            String what = " has signed what readers of A2A 1.0 find in it (" + algorithm.label() + "), and no more"
                    + bounds(key);
            return new Verdict(Outcome.VERIFIED, key.id(), name + what);
        }
        return new Verdict(Outcome.TAMPERED, key.id(), name + " has not signed this, but something else");
    }

    private static String bounds(CardKey key) {
        return key.hosts().isEmpty() ? "" : ", as it may for " + String.join(", ", key.hosts());
    }

    private static String elsewhere(CardKey key, @Nullable String host) {
        return "key " + shown(key.id()) + " is trusted for " + String.join(", ", key.hosts()) + ", not for "
                + (host == null ? "an unknown host" : host);
    }

    /** Untrusted text made safe for a log. */
    private static String shown(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "…";
    }
}
