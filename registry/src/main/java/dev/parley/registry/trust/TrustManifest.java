package dev.parley.registry.trust;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Outcome;
import dev.parley.registry.document.CardReader;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Verifies trust manifests of AI Catalogs: those with an {@code identity} and a signature over the manifest ({@code trustManifest}), and
 * those with a {@code contributor} and the profile {@code did-web-v1} ({@code trustManifests}). Keys are those of the operator, and those
 * that the identity {@code did:web} publishes. Safe for any thread.
 *
 * <p>Source: AI Catalog, trust manifests; RFC 7515, appendix F; RFC 8785.
 */
record TrustManifest(DidWeb identities, InstantSource clock) {
    /** Verdict on a manifest or a card. */
    record Finding(Outcome outcome, String reason) {
        /** @param about begins the reason */
        static Finding of(Verdict verdict, String about) {
            return new Finding(Outcome.valueOf(verdict.outcome().name()), about + verdict.reason());
        }

        static Finding unverifiable(String reason) {
            return new Finding(Outcome.UNVERIFIABLE, reason);
        }
    }

    /**
     * The subject of a manifest.
     *
     * @param ids of the entry: its identifier, and the one that its publisher gave it
     * @param url of the document; null if it is part of the entry
     */
    record Subject(
            Set<String> ids,
            String type,
            String version,
            @Nullable String url,
            byte[] document) {
        /** The domain that publishes an identifier {@code urn:air:DOMAIN:…}; empty for others. */
        static String publisher(String id) {
            String[] pieces = id.split(":", 4);
            return pieces.length == 4 && pieces[0].equals("urn") && pieces[1].equals("air")
                    ? pieces[2].toLowerCase(Locale.ROOT)
                    : "";
        }

        /** The digest is of the bytes that are served; of data inside of an entry also in canonical form. */
        private boolean hasDigest(Object digest) {
            return digest.equals(CardReader.digest(document)) || url == null && digest.equals(canonical());
        }

        private @Nullable String canonical() {
            try {
                return CardReader.digest(CanonicalJson.of(document));
            } catch (A2AException noJson) {
                return null;
            }
        }
    }

    /** Types of the card of an agent, which are the same. */
    static final Set<String> AGENT_CARDS = Set.of(Entry.AGENT_CARD, "application/agent-card+json");

    private static final Duration SKEW = Duration.ofSeconds(60);
    private static final Set<String> KEYS_IN_HEADER = Set.of("jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256");

    /**
     * Judges a manifest.
     *
     * @param trusted keys of the operator
     * @param group whose share of look-ups it uses
     */
    Finding judge(Map<?, ?> manifest, Subject subject, TrustedKeys trusted, String group) {
        try {
            return manifest.containsKey("contributor")
                    ? ofContributor(manifest, subject, group)
                    : ofIdentity(manifest, subject, trusted, group);
        } catch (IOException unknown) {
            return Finding.unverifiable(String.valueOf(unknown.getMessage()));
        } catch (A2AException | IllegalArgumentException malformed) {
            return Finding.unverifiable("malformed trust manifest: " + malformed.getMessage());
        }
    }

    private Finding ofIdentity(Map<?, ?> manifest, Subject subject, TrustedKeys trusted, String group)
            throws IOException {
        if (!(manifest.get("identity") instanceof String identity)) {
            return Finding.unverifiable("the trust manifest has no identity");
        }
        if (!(manifest.get("signature") instanceof String jws)) {
            return Finding.unverifiable("the trust manifest is not signed");
        }
        Finding mismatch = mismatch(manifest, manifest, subject, false);
        if (mismatch != null) {
            return mismatch;
        }
        byte[] payload = CanonicalJson.of(without(manifest, "signature"));
        String signer = domain(identity);
        Verdict verdict = trusted.judge(keys -> keys.verify(payload, jws, signer));
        if (verdict.keyId() == null && DidWeb.domain(identity) != null) {
            Map<?, ?> header = header(jws);
            verdict = CardTrust.of(identities.key(group, identity, String.valueOf(header.get("kid"))))
                    .verify(payload, jws, signer);
        }
        return anchored(verdict, signer, manifest);
    }

    private Finding ofContributor(Map<?, ?> manifest, Subject subject, String group) throws IOException {
        if (!(manifest.get("signature") instanceof Map<?, ?> signature)
                || !Objects.equals(signature.get("signer"), manifest.get("contributor"))) {
            return Finding.unverifiable("the trust manifest is not signed by its contributor");
        }
        Finding mismatch = mismatch(manifest, signature, subject, true);
        return mismatch != null
                ? mismatch
                : anchored(
                        verify(manifest, signature, CatalogSigner.MANIFEST, group),
                        DidWeb.domain(String.valueOf(signature.get("signer"))),
                        manifest);
    }

    /** Judges the signature of a whole catalog, which says who has made it, and nothing about its entries. */
    Finding judge(Map<?, ?> catalog, String group) {
        if (!(catalog.get("signature") instanceof Map<?, ?> signature)) {
            return new Finding(Outcome.UNSIGNED, "the catalog is not signed");
        }
        try {
            Finding outdated = outdated(signature);
            if (outdated != null) {
                return outdated;
            }
            Verdict verdict = verify(catalog, signature, CatalogSigner.CATALOG, group);
            return Finding.of(verdict, "catalog of " + signature.get("signer") + ": ");
        } catch (IOException unknown) {
            return Finding.unverifiable(String.valueOf(unknown.getMessage()));
        } catch (A2AException | IllegalArgumentException malformed) {
            return Finding.unverifiable("malformed signature: " + malformed.getMessage());
        }
    }

    /**
     * Verifies a signature by the profile {@code did-web-v1} over the object that holds it.
     *
     * @throws IllegalArgumentException if it is not one of that profile and type
     */
    private Verdict verify(Map<?, ?> object, Map<?, ?> signature, String type, String group) throws IOException {
        if (!(signature.get("jws") instanceof String jws)
                || !(signature.get("signer") instanceof String signer)
                || !CatalogSigner.PROFILE.equals(signature.get("profile"))
                || DidWeb.domain(signer) == null) {
            throw new IllegalArgumentException("signature without jws, or without a signer by profile did-web-v1");
        }
        Map<?, ?> header = header(jws);
        if (!type.equals(header.get("typ")) || !"ES256".equals(header.get("alg"))) {
            throw new IllegalArgumentException(
                    "typ " + header.get("typ") + ", alg " + header.get("alg") + " (expected: " + type + ", ES256)");
        }
        Map<Object, @Nullable Object> signed = without(object, "additionalSignatures");
        signed.put("signature", without(signature, "jws"));
        String key = identities.key(group, signer, String.valueOf(header.get("kid")));
        return CardTrust.of(key).verify(CanonicalJson.of(signed), jws, DidWeb.domain(signer));
    }

    private static Finding anchored(Verdict verdict, @Nullable String signer, Map<?, ?> manifest) {
        if (!verdict.isVerified()) {
            return Finding.of(verdict, "trust manifest: ");
        }
        Map<?, ?> subject = (Map<?, ?>) Objects.requireNonNull(manifest.get("subject"));
        String publisher = Subject.publisher(String.valueOf(subject.get("identifier")));
        if (!publisher.equals(signer)) {
            return new Finding(
                    Outcome.INTEGRITY,
                    "trust manifest: signed by " + signer + ", who does not speak for the publisher "
                            + (publisher.isEmpty() ? "(none)" : publisher));
        }
        return subject.containsKey("digest")
                ? new Finding(Outcome.VERIFIED, "trust manifest: signed by " + signer + "; " + verdict.reason())
                : Finding.unverifiable(
                        "trust manifest: signed by " + signer + ", for the address, not for the content");
    }

    /** Why a manifest is not one of the entry now; null if it is. */
    private @Nullable Finding mismatch(Map<?, ?> manifest, Map<?, ?> times, Subject entry, boolean exact) {
        if (!(manifest.get("subject") instanceof Map<?, ?> subject)
                || !(subject.get("identifier") instanceof String id)
                || !entry.ids().contains(id)) {
            return Finding.unverifiable("the trust manifest has another subject");
        }
        Object type = subject.get("type");
        Object version = subject.get("version");
        Object url = subject.get("url");
        Object digest = subject.get("digest");
        boolean isBound = digest != null || exact && url instanceof String text && text.startsWith("https://");
        if (!isBound) {
            return Finding.unverifiable("the trust manifest names no digest");
        }
        if (type != null && !isSame(type.toString(), entry.type())
                || type == null && !exact
                || version != null && !version.equals(entry.version())
                || url != null && entry.url() != null && !url.equals(entry.url())) {
            return Finding.unverifiable("the trust manifest is about another type, version or address");
        }
        if (digest != null && !entry.hasDigest(digest)) {
            return new Finding(Outcome.TAMPERED, "the document has another digest than the trust manifest");
        }
        return outdated(times);
    }

    private @Nullable Finding outdated(Map<?, ?> times) {
        Instant now = clock.instant();
        Instant issued = time(times.get("issuedAt"));
        Instant expires = time(times.get("expiresAt"));
        if (issued == null || issued.isAfter(now.plus(SKEW))) {
            return Finding.unverifiable("the signature has no time of issue, or one to come");
        }
        return expires != null && !now.isBefore(expires)
                ? Finding.unverifiable("the signature has expired at " + expires)
                : null;
    }

    private static boolean isSame(String type, String other) {
        return type.equals(other) || AGENT_CARDS.containsAll(List.of(type, other));
    }

    private static @Nullable Instant time(@Nullable Object text) {
        try {
            return text == null ? null : Instant.parse(text.toString());
        } catch (DateTimeParseException malformed) {
            throw new IllegalArgumentException(text + " (expected: a time)", malformed);
        }
    }

    /** The trust domain of an identity: of {@code did:web}, {@code spiffe} or {@code https}. */
    private static @Nullable String domain(String identity) {
        String domain = DidWeb.domain(identity);
        if (domain != null) {
            return domain;
        }
        for (String scheme : List.of("https://", "spiffe://")) {
            if (identity.startsWith(scheme)) {
                return identity.substring(scheme.length()).split("[/:?#]", 2)[0].toLowerCase(Locale.ROOT);
            }
        }
        return null;
    }

    /** The header of a signature, which must not bring its own key. */
    private static Map<?, ?> header(String jws) {
        Map<?, ?> header = Json.read(Base64.getUrlDecoder().decode(jws.split("\\.", 2)[0]), Map.class);
        if (KEYS_IN_HEADER.stream().anyMatch(header::containsKey)) {
            throw new IllegalArgumentException("the signature brings its own key");
        }
        return header;
    }

    private static Map<Object, @Nullable Object> without(Map<?, ?> members, String name) {
        var rest = new LinkedHashMap<Object, @Nullable Object>(members);
        rest.remove(name);
        return rest;
    }
}
