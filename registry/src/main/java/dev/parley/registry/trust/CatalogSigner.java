package dev.parley.registry.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.support.LruMap;
import dev.parley.protocol.support.Sha256;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Signs the catalog of a hub and trust manifests of its entries as the identity {@code did:web} of its publisher, by the key that signs
 * the cards of the hub, if that is on P-256: the profile {@code did-web-v1} has no other keys. Signatures are kept while half of their
 * validity is left, so that a catalog has the same bytes for a while. Safe for any thread.
 *
 * <p>Source: AI Catalog, trust manifests of contributors; did:web method specification.
 */
public final class CatalogSigner {
    static final String PROFILE = "did-web-v1";
    static final String MANIFEST = "ai-catalog-trust-manifest+jws";
    static final String CATALOG = "ai-catalog+jws";

    private static final Duration VALIDITY = Duration.ofDays(7);
    private static final int MOST_KEPT = 2_000;

    private final HubSignatures hub;
    private final String publisher;
    private final String identity;
    private final InstantSource clock;
    private final Map<String, Signed> kept = new LruMap<>(MOST_KEPT);

    private record Signed(Map<String, Object> signature, Instant renewal) {}

    /** @param publisher domain of the hub in URNs */
    public CatalogSigner(HubSignatures hub, String publisher, InstantSource clock) {
        this.hub = hub;
        this.publisher = publisher;
        this.identity = "did:web:" + publisher;
        this.clock = clock;
    }

    /** Domain of the hub in URNs. */
    public String publisher() {
        return publisher;
    }

    /** Keys on P-256 of the hub as JWKs, that which signs first; empty if that is another kind of key. */
    private List<Map<?, ?>> keys() {
        List<Map<?, ?>> keys = hub.keys().stream()
                .map(set -> Json.read(set.getBytes(UTF_8), Map.class).get("keys"))
                .flatMap(list -> ((List<?>) requireNonNull(list)).stream())
                .<Map<?, ?>>map(key -> (Map<?, ?>) key)
                .toList();
        return keys.isEmpty() || !isP256(keys.getFirst())
                ? List.of()
                : keys.stream().filter(CatalogSigner::isP256).toList();
    }

    private static boolean isP256(Map<?, ?> key) {
        return "P-256".equals(key.get("crv"));
    }

    private String name(Map<?, ?> key) {
        String id = String.valueOf(key.get("kid"));
        return identity + "#" + (id.matches("[A-Za-z0-9._~-]+") ? id : Sha256.hex(id));
    }

    /** The document of the identity, for its address {@code /.well-known/did.json}; empty if the hub signs no catalogs. */
    public Optional<Map<String, Object>> document() {
        List<Map<?, ?>> keys = keys();
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        var document = new LinkedHashMap<String, Object>();
        document.put(
                "@context", List.of("https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"));
        document.put("id", identity);
        document.put("verificationMethod", keys.stream().map(this::method).toList());
        document.put("assertionMethod", keys.stream().map(this::name).toList());
        return Optional.of(document);
    }

    private Map<String, Object> method(Map<?, ?> key) {
        var method = new LinkedHashMap<String, Object>();
        method.put("id", name(key));
        method.put("type", "JsonWebKey2020");
        method.put("controller", identity);
        method.put("publicKeyJwk", key);
        return method;
    }

    /** The manifest of the publisher for a document; empty if the hub signs no catalogs. */
    public Optional<Map<String, Object>> manifest(String id, String type, String version, String digest) {
        var subject = new LinkedHashMap<String, Object>();
        subject.put("identifier", id);
        subject.put("type", type);
        subject.put("digest", digest);
        if (!version.isBlank()) {
            subject.put("version", version);
        }
        var manifest = new LinkedHashMap<String, Object>();
        manifest.put("contributor", identity);
        manifest.put("subject", subject);
        return signed(manifest, MANIFEST);
    }

    /** A catalog with the signature of the publisher; as it is if the hub signs no catalogs. */
    public Map<String, @Nullable Object> catalog(Map<String, @Nullable Object> catalog) {
        return signed(catalog, CATALOG)
                .<Map<String, @Nullable Object>>map(LinkedHashMap::new)
                .orElse(catalog);
    }

    private Optional<Map<String, Object>> signed(Map<String, ?> object, String type) {
        List<Map<?, ?>> keys = keys();
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        String key = type + " " + Sha256.hex(new String(CanonicalJson.of(object), UTF_8));
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Signed known;
        synchronized (kept) {
            known = kept.get(key);
        }
        if (known == null || !now.isBefore(known.renewal())) {
            known = new Signed(signature(object, type, name(keys.getFirst()), now), now.plus(VALIDITY.dividedBy(2)));
            synchronized (kept) {
                kept.put(key, known);
            }
        }
        var signed = new LinkedHashMap<String, Object>(object);
        signed.put("signature", known.signature());
        return Optional.of(signed);
    }

    private Map<String, Object> signature(Map<String, ?> object, String type, String keyId, Instant now) {
        var signature = new LinkedHashMap<String, Object>();
        signature.put("signer", identity);
        signature.put("profile", PROFILE);
        signature.put("issuedAt", now.toString());
        signature.put("expiresAt", now.plus(VALIDITY).toString());
        var payload = new LinkedHashMap<String, Object>(object);
        payload.put("signature", signature);
        String jws = hub.sign(CanonicalJson.of(payload), type, keyId).orElseThrow();
        var whole = new LinkedHashMap<>(signature);
        whole.put("jws", jws);
        return whole;
    }
}
