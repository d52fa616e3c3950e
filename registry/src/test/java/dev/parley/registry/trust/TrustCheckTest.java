package dev.parley.registry.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.extension.HubSignatures;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.registry.Entry;
import dev.parley.registry.document.CardReader;
import dev.parley.store.database.Database;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TrustCheckTest {
    private static final Instant NOW = Instant.parse("2026-11-23T12:00:00Z");
    private static final String ID = "urn:air:example.com:agents:translator";
    private static final String URL = "https://agents.example.com/card.json";
    private static final String SIGNER = "did:web:example.com";
    private static final String KID = SIGNER + "#k1";

    private static final HubSignatures NO_KEYS = new HubSignatures() {
        @Override
        public Optional<String> sign(byte[] payload) {
            return Optional.empty();
        }

        @Override
        public Optional<String> keys() {
            return Optional.empty();
        }

        @Override
        public Verdict verify(byte[] payload, String signature, String keys, @Nullable String host) {
            return CardTrust.of(keys).verify(payload, signature, host);
        }
    };

    @TempDir
    Path directory;

    private final Signer operator = new Signer();
    private final Signer publisher = new Signer();
    private final Map<String, String> web = new HashMap<>();
    private Database database;
    private TrustCheck check;

    @AfterEach
    void close() {
        database.close();
    }

    @BeforeEach
    void trust() throws IOException {
        Path file = directory.resolve("trusted.json");
        Files.write(file, Json.write(Map.of("keys", List.of(operator.jwk("op")))));
        database = Database.open(directory.resolve("data"));
        InstantSource clock = InstantSource.fixed(NOW);
        var revocations = new Revocations(database, NO_KEYS, "example.com", clock);
        check = new TrustCheck(List.of(file), NO_KEYS, revocations, this::fetch, clock);
        web.put("https://example.com/.well-known/did.json", did(SIGNER, publisher.jwk(KID)));
        web.put("https://other.example/.well-known/did.json", did("did:web:other.example", publisher.jwk("#k1")));
    }

    private Document fetch(String group, String url) throws IOException {
        String body = web.get(url);
        if (body == null) {
            throw new IOException(url + ": no answer");
        }
        return new Document(url, 200, "application/json", null, body.getBytes(UTF_8));
    }

    private static String did(String id, Map<String, Object> jwk) {
        var method = Map.of("id", id + "#k1", "type", "JsonWebKey", "controller", id, "publicKeyJwk", jwk);
        return json(Map.of("id", id, "verificationMethod", List.of(method), "assertionMethod", List.of(id + "#k1")));
    }

    private static String json(Object tree) {
        return new String(Json.write(tree), UTF_8);
    }

    private static Map<String, Object> card(String name) {
        var card = new LinkedHashMap<String, Object>();
        card.put("name", name);
        card.put("description", "translates");
        card.put("version", "1.0");
        card.put(
                "supportedInterfaces",
                List.of(Map.of(
                        "url",
                        "https://agents.example.com/a2a",
                        "protocolBinding",
                        "JSONRPC",
                        "protocolVersion",
                        "1.0")));
        card.put("capabilities", new LinkedHashMap<String, Object>());
        card.put("defaultInputModes", List.of("text/plain"));
        card.put("defaultOutputModes", List.of("text/plain"));
        card.put("skills", List.of());
        return card;
    }

    private static Entry entry(byte[] document, Map<String, Object> metadata) {
        var resource = new Entry.Resource(
                Entry.AGENT_CARD,
                "translator",
                "",
                "1.0",
                null,
                URL,
                CardReader.digest(document),
                null,
                List.of(),
                List.of(),
                List.of(),
                List.of(new Entry.Endpoint("https://agents.example.com/a2a", "JSONRPC", "1.0")),
                List.of(),
                metadata);
        return new Entry(
                ID,
                resource,
                new Entry.Ownership("g", "p", Entry.Visibility.PUBLIC),
                new Entry.Trust(Entry.Outcome.UNSIGNED, "", null, null, null, null),
                Entry.Health.UNKNOWN,
                new Entry.State(Entry.Status.ACTIVE, 1, 1, NOW, NOW, null));
    }

    private Entry.Trust verdict(byte[] document, Map<String, Object> metadata) {
        return check.checked(entry(document, metadata), document, CallContext.anonymous())
                .trust();
    }

    private Entry.Trust manifest(Map<String, Object> manifest) {
        return verdict(Json.write(card("a")), Map.of("trustManifest", manifest));
    }

    private Entry.Trust manifests(Map<String, Object> manifest) {
        return verdict(Json.write(card("a")), Map.of("trustManifests", List.of(manifest)));
    }

    @Test
    @DisplayName("S39, S41: a card is verified by keys of the operator, and a changed one is tampered")
    void cardsAreVerifiedByKeysOfTheOperator() {
        Map<String, Object> card = card("a");
        byte[] payload = CardPayload.of(Json.write(card)).whole();
        byte[] signed = Json.write(operator.signed(card, payload, "op"));
        byte[] changed =
                new String(signed, UTF_8).replace("translates", "transmits").getBytes(UTF_8);

        assertThat(verdict(signed, Map.of()).outcome()).isEqualTo(Entry.Outcome.VERIFIED);
        assertThat(verdict(signed, Map.of()).reason()).contains("key op has signed it");
        assertThat(verdict(signed, Map.of()).checked()).isEqualTo(NOW);
        assertThat(verdict(changed, Map.of()).outcome()).isEqualTo(Entry.Outcome.TAMPERED);
        assertThat(verdict(Json.write(card), Map.of()).outcome()).isEqualTo(Entry.Outcome.UNSIGNED);
        assertThat(verdict(Json.write(publisher.signed(card, payload, "x")), Map.of())
                        .outcome())
                .isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    @Test
    void aCardOf03IsVerifiedToo() {
        var card = new LinkedHashMap<String, Object>(Map.of("name", "old", "url", "https://a.example", "version", "1"));
        card.put("protocolVersion", "0.3.0");
        byte[] signed = Json.write(
                operator.signed(card, CardPayload.of(Json.write(card)).whole(), "op"));

        assertThat(verdict(signed, Map.of()).outcome()).isEqualTo(Entry.Outcome.VERIFIED);
    }

    @Test
    void aChangeOfKeysChangesVerdicts() throws IOException {
        Map<String, Object> card = card("a");
        byte[] signed = Json.write(
                publisher.signed(card, CardPayload.of(Json.write(card)).whole(), "new"));
        String before = check.fingerprint();
        assertThat(verdict(signed, Map.of()).outcome()).isEqualTo(Entry.Outcome.UNVERIFIABLE);

        Map<String, Object> key = publisher.jwk("new");
        Instant end = NOW.plus(Duration.ofDays(36_500)); // keys are judged by the clock of the system
        key.put("exp", end.getEpochSecond());
        Files.write(directory.resolve("trusted.json"), Json.write(Map.of("keys", List.of(key))));
        check.reload();

        assertThat(verdict(signed, Map.of()).outcome()).isEqualTo(Entry.Outcome.VERIFIED);
        assertThat(check.fingerprint()).isNotEqualTo(before);
        assertThat(check.nextChange()).contains(end);
    }

    private Map<String, Object> identity(String identity, String id, byte[] document) {
        var manifest = new LinkedHashMap<String, Object>();
        manifest.put("identity", identity);
        manifest.put("issuedAt", NOW.minusSeconds(60).toString());
        manifest.put(
                "subject", Map.of("identifier", id, "type", Entry.AGENT_CARD, "digest", CardReader.digest(document)));
        return manifest;
    }

    private Map<String, Object> signedBy(Signer signer, String kid, Map<String, Object> manifest) {
        var signed = new LinkedHashMap<>(manifest);
        signed.put("signature", signer.detached(Map.of("alg", "ES256", "kid", kid), CanonicalJson.of(manifest)));
        return signed;
    }

    @Test
    void aManifestOfAnIdentityIsVerifiedIfTheIdentityIsThePublisher() {
        byte[] document = Json.write(card("a"));

        assertThat(manifest(signedBy(publisher, KID, identity(SIGNER, ID, document)))
                        .outcome())
                .isEqualTo(Entry.Outcome.VERIFIED);
        assertThat(manifest(signedBy(operator, "op", identity("https://example.com", ID, document)))
                        .outcome())
                .isEqualTo(Entry.Outcome.VERIFIED);
        assertThat(manifest(signedBy(operator, "op", identity("spiffe://other.example/a", ID, document)))
                        .outcome())
                .isEqualTo(Entry.Outcome.INTEGRITY);
        assertThat(manifest(signedBy(publisher, "x", identity("https://example.com", ID, document)))
                        .outcome())
                .isEqualTo(Entry.Outcome.UNVERIFIABLE);
        assertThat(manifest(identity(SIGNER, ID, document)).outcome()).isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    @Test
    void aGoodSignatureOfAnotherPartyIsIntegrityOnly() {
        web.put("https://other.example/.well-known/did.json", did("did:web:other.example", publisher.jwk("x")));

        Entry.Trust trust = manifest(signedBy(
                publisher, "did:web:other.example#k1", identity("did:web:other.example", ID, Json.write(card("a")))));

        assertThat(trust.outcome()).isEqualTo(Entry.Outcome.INTEGRITY);
        assertThat(trust.reason()).contains("other.example, who does not speak for the publisher example.com");
    }

    @Test
    void aManifestOfAnotherDocumentIsTampered() {
        Entry.Trust trust = manifest(signedBy(publisher, KID, identity(SIGNER, ID, Json.write(card("b")))));

        assertThat(trust.outcome()).isEqualTo(Entry.Outcome.TAMPERED);
        assertThat(trust.reason()).contains("another digest");
    }

    @Test
    void aManifestOfAnotherEntryOrTimeIsUnverifiable() {
        byte[] document = Json.write(card("a"));
        Map<String, Object> expired = identity(SIGNER, ID, document);
        expired.put("expiresAt", NOW.toString());
        Map<String, Object> early = identity(SIGNER, ID, document);
        early.put("issuedAt", NOW.plusSeconds(120).toString());
        Map<String, Object> unbound = identity(SIGNER, ID, document);
        unbound.put("subject", Map.of("identifier", ID, "type", Entry.AGENT_CARD));

        for (Map<String, Object> manifest :
                List.of(expired, early, unbound, identity(SIGNER, "urn:air:example.com:agents:other", document))) {
            assertThat(manifest(signedBy(publisher, KID, manifest)).outcome()).isEqualTo(Entry.Outcome.UNVERIFIABLE);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "HS256", "HS384"})
    void onlyAsymmetricAlgorithmsCount(String algorithm) {
        Map<String, Object> manifest = identity(SIGNER, ID, Json.write(card("a")));
        var signed = new LinkedHashMap<>(manifest);
        signed.put("signature", publisher.detached(Map.of("alg", algorithm, "kid", KID), CanonicalJson.of(manifest)));

        assertThat(manifest(signed).outcome()).isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    private Map<String, Object> contributed(String contributor, Map<String, Object> header, Signer signer) {
        var manifest = new LinkedHashMap<String, Object>();
        manifest.put("contributor", contributor);
        manifest.put(
                "subject",
                Map.of("identifier", ID, "type", Entry.AGENT_CARD, "digest", CardReader.digest(Json.write(card("a")))));
        var signature = new LinkedHashMap<String, Object>();
        signature.put("signer", contributor);
        signature.put("profile", "did-web-v1");
        signature.put("issuedAt", NOW.minusSeconds(60).toString());
        manifest.put("signature", signature);
        String jws = signer.detached(header, CanonicalJson.of(manifest));
        var whole = new LinkedHashMap<>(signature);
        whole.put("jws", jws);
        manifest.put("signature", whole);
        manifest.put("additionalSignatures", List.of());
        return manifest;
    }

    private static Map<String, Object> header(Object... further) {
        var header = new LinkedHashMap<String, Object>(
                Map.of("alg", "ES256", "kid", KID, "typ", "ai-catalog-trust-manifest+jws"));
        for (int i = 0; i < further.length; i += 2) {
            header.put(further[i].toString(), further[i + 1]);
        }
        return header;
    }

    @Test
    void aManifestOfAContributorIsVerifiedByItsDomain() {
        assertThat(manifests(contributed(SIGNER, header(), publisher)))
                .extracting(Entry.Trust::outcome, Entry.Trust::reason)
                .first()
                .isEqualTo(Entry.Outcome.VERIFIED);
    }

    @Test
    void aManifestOfAContributorKeepsToItsProfile() {
        for (Map<String, Object> header : List.of(
                header("typ", "JOSE"),
                header("jku", "https://attacker.example/keys"),
                header("jwk", operator.jwk("x")),
                header("x5c", List.of("AA")),
                header("kid", "did:web:other.example#k1"),
                header("kid", SIGNER + "#unknown"),
                header("alg", "EdDSA"),
                header("crit", List.of("exp")))) {
            assertThat(manifests(contributed(SIGNER, header, publisher)).outcome())
                    .as(json(header))
                    .isEqualTo(Entry.Outcome.UNVERIFIABLE);
        }
        assertThat(manifests(contributed(SIGNER, header(), operator)).outcome()).isEqualTo(Entry.Outcome.TAMPERED);
        assertThat(manifests(contributed("did:web:example.com:path", header(), publisher))
                        .outcome())
                .isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    @Test
    void aKeyCountsOnlyIfItsDomainPublishesItForAssertions() {
        web.put(
                "https://example.com/.well-known/did.json",
                did(SIGNER, publisher.jwk(KID)).replace("assertionMethod", "authentication"));

        assertThat(manifests(contributed(SIGNER, header(), publisher)).outcome())
                .isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    @Test
    void namesThatStandTwiceInADidDocumentAreRefused() {
        web.put(
                "https://example.com/.well-known/did.json",
                "{\"id\":\"did:web:evil.example\","
                        + did(SIGNER, publisher.jwk(KID)).substring(1));

        assertThat(manifests(contributed(SIGNER, header(), publisher)).outcome())
                .isEqualTo(Entry.Outcome.UNVERIFIABLE);
    }

    private Entry.Trust attested(String url) throws InterruptedException {
        Map<String, Object> card = card("a");
        card.put("capabilities", Map.of("teeDetails", Map.of("type", "Intel SGX", "attestationEndpoint", url)));
        byte[] document = Json.write(card);
        Entry entry = entry(document, Map.of());
        Entry declared = check.checked(entry, document, CallContext.anonymous());
        assertThat(declared.trust().tee()).isEqualTo("Intel SGX");
        assertThat(declared.trust().teeOutcome()).isEqualTo(Entry.TeeOutcome.UNVERIFIED);
        return check.attested(declared, document);
    }

    @Test
    @DisplayName("AV30: a declared attestation is fetched, and its result says when and why")
    void attestationsAreFetchedAndNeverCalledGoodUnverified() throws Exception {
        Map<String, Object> claims =
                Map.of("sub", ID, "exp", NOW.plusSeconds(60).getEpochSecond());
        Map<String, Object> header = Map.of("alg", "ES256", "kid", "op");
        web.put("https://a.example/quote", "quote");
        web.put("https://a.example/good", operator.compact(header, Json.write(claims)));
        web.put(
                "https://a.example/stranger",
                publisher.compact(Map.of("alg", "ES256", "kid", "x"), Json.write(claims)));
        web.put("https://a.example/forged", publisher.compact(header, Json.write(claims)));
        web.put("https://a.example/late", operator.compact(header, Json.write(Map.of("sub", ID, "exp", 1))));
        web.put(
                "https://a.example/other",
                operator.compact(header, Json.write(Map.of("sub", "urn:air:b.example:x:y", "exp", 99_999_999_999L))));

        assertThat(attested("https://a.example/good").teeOutcome()).isEqualTo(Entry.TeeOutcome.VERIFIED);
        assertThat(attested("https://a.example/quote").teeOutcome()).isEqualTo(Entry.TeeOutcome.UNVERIFIED);
        assertThat(attested("https://a.example/quote").teeReason()).contains("Intel SGX", "sha256:", NOW.toString());
        assertThat(attested("https://a.example/stranger").teeOutcome()).isEqualTo(Entry.TeeOutcome.UNVERIFIED);
        for (String failed : List.of("forged", "late", "other", "absent")) {
            assertThat(attested("https://a.example/" + failed).teeOutcome())
                    .as(failed)
                    .isEqualTo(Entry.TeeOutcome.FAILED);
        }
    }
}
