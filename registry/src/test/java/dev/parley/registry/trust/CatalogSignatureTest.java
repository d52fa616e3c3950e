package dev.parley.registry.trust;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.registry.Cards;
import dev.parley.registry.Entry;
import dev.parley.store.database.Database;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Signatures of the catalog of a hub, as the reader of catalogs verifies them. */
@Timeout(120)
final class CatalogSignatureTest {
    private static final String IDENTITY = "https://hub.example.com/.well-known/did.json";

    private static final HubSignatures OTHER_HUB = new HubSignatures() {
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

    private HubBuilder hub(CardKeys.Algorithm algorithm) {
        Path key = directory.resolve(algorithm + ".json");
        CardKeys.create(key, algorithm, null);
        return Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "hub.example.com")
                .cardKeys(CardKeys.read(List.of(key)));
    }

    private static String register(Caller web) throws Exception {
        Answer answer = web.post("/registry/agents", Cards.registration(Cards.v1("Translator", "translate"), "public"));
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.text("id");
    }

    private TrustCheck reader(Database database, byte[] identity, Instant now) {
        InstantSource clock = InstantSource.fixed(now);
        Fetch fetch = (group, url) -> {
            if (!url.equals(IDENTITY)) {
                throw new IOException(url + ": no answer");
            }
            return new Document(url, 200, "application/did+json", null, identity);
        };
        var revocations = new Revocations(database, OTHER_HUB, "other.example", clock);
        return new TrustCheck(List.of(), OTHER_HUB, revocations, fetch, clock);
    }

    private static Map<String, @Nullable Object> object(@Nullable Object json) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        ((Map<?, ?>) requireNonNull(json)).forEach((name, value) -> object.put(String.valueOf(name), value));
        return object;
    }

    /** The trust in an entry with the manifests of a catalog, as a registry that copies it judges. */
    private static Entry.Outcome judged(TrustCheck reader, Entry entry, byte[] document, Object manifests) {
        Entry.Resource of = entry.resource();
        var given = new Entry.Resource(
                of.type(),
                of.name(),
                of.description(),
                of.version(),
                of.humanId(),
                of.url(),
                of.digest(),
                of.provider(),
                of.skills(),
                of.tags(),
                of.capabilities(),
                of.endpoints(),
                of.schemes(),
                Map.of("trustManifests", manifests));
        return reader.checked(entry.with(given), document, CallContext.anonymous())
                .trust()
                .outcome();
    }

    @Test
    @DisplayName(
            "AV35: the manifests of a catalog and the catalog itself are signed by the publisher, and our reader verifies both")
    void manifestsAndCatalogAreSigned() throws Exception {
        try (Hub hub = hub(CardKeys.Algorithm.ES256).start();
                Database database = Database.open(directory.resolve("data"))) {
            var web = ExtensionKit.caller(hub.url());
            String id = register(web);
            byte[] document = web.get("/registry/agents/" + id + "/card").body();
            Entry entry = dev.parley.registry.EntryModel.read(
                    web.get("/registry/agents/" + id).body());
            Answer identity = web.get("/.well-known/did.json");
            assertThat(identity.text("id")).isEqualTo("did:web:hub.example.com");
            Answer catalog = web.get("/.well-known/ai-catalog.json");
            assertThat(web.get("/.well-known/ard.json").body()).isEqualTo(catalog.body());

            int at = catalog.each("entries", "identifier").indexOf(id);
            Object manifests = requireNonNull(catalog.at(
                    "entries", at, "extensions", "https://agent-card.github.io/ai-catalog/trust/2", "trustManifests"));
            TrustCheck reader = reader(database, identity.body(), Instant.now());

            assertThat(judged(reader, entry, document, manifests)).isEqualTo(Entry.Outcome.VERIFIED);
            byte[] other = new String(document, java.nio.charset.StandardCharsets.UTF_8)
                    .replace("Translator", "Traitor")
                    .getBytes(java.nio.charset.StandardCharsets.UTF_8);
            assertThat(judged(reader, entry, other, manifests)).isEqualTo(Entry.Outcome.TAMPERED);
            assertThat(judged(
                            reader(database, identity.body(), Instant.now().plus(Duration.ofDays(8))),
                            entry,
                            document,
                            manifests))
                    .as("after its end")
                    .isEqualTo(Entry.Outcome.UNVERIFIABLE);

            Map<String, @Nullable Object> whole = object(Json.read(catalog.body(), Map.class));
            assertThat(reader.ofCatalog(whole, "g").outcome()).isEqualTo(Entry.Outcome.VERIFIED);
            whole.put("entries", List.of());
            assertThat(reader.ofCatalog(whole, "g").outcome()).isEqualTo(Entry.Outcome.TAMPERED);
            whole.remove("signature");
            assertThat(reader.ofCatalog(whole, "g").outcome()).isEqualTo(Entry.Outcome.UNSIGNED);
        }
    }

    @Test
    @DisplayName("a hub without a key of ES256 signs no catalog and has no identity")
    void otherKeysSignNoCatalogs() throws Exception {
        try (Hub hub = hub(CardKeys.Algorithm.EDDSA).start()) {
            var web = ExtensionKit.caller(hub.url());
            var unused = register(web);

            assertThat(web.get("/.well-known/ai-catalog.json").text()).doesNotContain("jws", "contributor");
            assertThat(web.get("/.well-known/did.json").status()).isEqualTo(404);
        }
    }
}
