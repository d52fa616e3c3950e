package dev.parley.registry.trust;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Outcome;
import dev.parley.registry.Entry.TeeOutcome;
import dev.parley.registry.ExchangeOperation.CatalogSignature;
import dev.parley.registry.store.EntryCheck;
import dev.parley.registry.trust.TrustManifest.Finding;
import dev.parley.registry.trust.TrustManifest.Subject;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Verifies documents by the keys that the operator trusts: the signatures of cards, and trust manifests of AI Catalogs. Addresses of keys
 * in documents are ignored. Safe for any thread.
 */
public final class TrustCheck implements EntryCheck {
    /** Outcomes, the decisive one first. */
    private static final List<Outcome> DECISIVE =
            List.of(Outcome.TAMPERED, Outcome.VERIFIED, Outcome.INTEGRITY, Outcome.UNVERIFIABLE);

    private static final int MOST_MANIFESTS = 8;

    private final List<Path> files;
    private final HubSignatures hub;
    private final Revocations revocations;
    private final Fetch fetch;
    private final TrustManifest manifests;
    private final InstantSource clock;
    private volatile TrustedKeys trusted;

    /**
     * @param files keys of the operator: JWKs, JWK sets, or public keys in PEM
     * @throws java.io.UncheckedIOException if one of them cannot be read
     * @throws IllegalArgumentException if they hold anything else
     */
    public TrustCheck(List<Path> files, HubSignatures hub, Revocations revocations, Fetch fetch, InstantSource clock) {
        this.revocations = revocations;
        this.files = List.copyOf(files);
        this.hub = hub;
        this.fetch = fetch;
        this.manifests = new TrustManifest(new DidWeb(fetch, clock), clock);
        this.clock = clock;
        this.trusted = TrustedKeys.read(files, hub);
    }

    /** Reads the files again. */
    void reload() {
        trusted = TrustedKeys.read(files, hub);
    }

    /** Text that is another one if the keys are others. */
    String fingerprint() {
        return trusted.fingerprint();
    }

    /** The next time at which a key becomes valid or expires. */
    Optional<Instant> nextChange() {
        return trusted.nextChange(clock.instant());
    }

    @Override
    public Entry checked(Entry entry, byte[] document, CallContext publisher) {
        revocations.check(entry);
        return entry.with(judged(entry, document));
    }

    /**
     * The verdict on the signatures of a card that is not an entry, by the keys of now.
     *
     * @param url from which it came; null for none
     */
    public Verdict signatures(byte[] card, @Nullable String url) {
        return trusted.judge(keys -> keys.verify(card, host(url)));
    }

    /** The trust in a document of an entry, by the keys of now. */
    Entry.Trust judged(Entry entry, byte[] document) {
        Finding finding = verdict(entry, document);
        Attestation declared = Attestation.declared(document);
        Entry.Trust before = entry.trust();
        // A document that is published again changes nothing.
        boolean isSame =
                finding.outcome() == before.outcome() && finding.reason().equals(before.reason());
        boolean isKept = declared != null && declared.type().equals(before.tee()) && before.teeOutcome() != null;
        return new Entry.Trust(
                finding.outcome(),
                finding.reason(),
                isSame && before.checked() != null
                        ? before.checked()
                        : clock.instant().truncatedTo(ChronoUnit.MILLIS),
                declared == null ? null : declared.type(),
                declared == null ? null : isKept ? before.teeOutcome() : TeeOutcome.UNVERIFIED,
                declared == null ? null : isKept ? before.teeReason() : "not checked yet");
    }

    /** The entry with the attestation that it declares, if there is one. */
    public Entry.Trust attested(Entry entry, byte[] document) throws InterruptedException {
        Attestation declared = Attestation.declared(document);
        if (declared == null) {
            return entry.trust();
        }
        Attestation.Finding finding = declared.check(fetch, trusted, entry, clock.instant());
        return new Entry.Trust(
                entry.trust().outcome(),
                entry.trust().reason(),
                entry.trust().checked(),
                declared.type(),
                finding.outcome(),
                finding.reason() + " (" + clock.instant() + ")");
    }

    /** The domain that publishes an identifier {@code urn:air:DOMAIN:…}; empty for others. */
    public static String publisher(String id) {
        return Subject.publisher(id);
    }

    /**
     * The trust in an entry of a catalog or a result of a search, in the entry model of ARD. Only a document that it holds can be judged:
     * nothing is fetched from its address.
     */
    public CatalogSignature ofResult(Map<?, ?> entry, String group) {
        Finding finding = Finding.unverifiable("the document was not fetched");
        if (entry.get("data") instanceof Map<?, ?> data) {
            var subject = new Subject(
                    Set.of(String.valueOf(entry.get("identifier"))),
                    String.valueOf(entry.get("type")),
                    Objects.toString(entry.get("version"), ""),
                    null,
                    Json.write(data));
            finding = verdict(subject, null, entry, group);
        }
        return new CatalogSignature(finding.outcome(), finding.reason());
    }

    /**
     * The trust in a catalog as a whole, by the signature of its publisher.
     */
    public CatalogSignature ofCatalog(Map<?, ?> catalog, String group) {
        Finding finding = manifests.judge(catalog, group);
        return new CatalogSignature(finding.outcome(), finding.reason());
    }

    private Finding verdict(Entry entry, byte[] document) {
        Map<String, Object> metadata = entry.resource().metadata();
        Subject subject = new Subject(
                Stream.of(entry.id(), metadata.get("sourceIdentifier"))
                        .filter(Objects::nonNull)
                        .map(String::valueOf)
                        .collect(Collectors.toUnmodifiableSet()),
                entry.resource().type(),
                entry.resource().version(),
                entry.resource().url(),
                document);
        return verdict(
                subject, entry.resource().url(), metadata, entry.ownership().group());
    }

    /**
     * @param url from which a card came; null for none
     * @param members in which trust manifests are
     */
    private Finding verdict(Subject subject, @Nullable String url, Map<?, ?> members, String group) {
        var findings = new ArrayList<Finding>();
        if (TrustManifest.AGENT_CARDS.contains(subject.type())) {
            Verdict card = trusted.judge(keys -> keys.verify(subject.document(), host(url)));
            findings.add(Finding.of(card, ""));
        }
        Stream.concat(Stream.ofNullable(members.get("trustManifest")), all(members.get("trustManifests")))
                .filter(Map.class::isInstance)
                .limit(MOST_MANIFESTS)
                .forEach(manifest -> findings.add(manifests.judge((Map<?, ?>) manifest, subject, trusted, group)));
        for (Outcome outcome : DECISIVE) {
            for (Finding finding : findings) {
                if (finding.outcome() == outcome) {
                    return finding;
                }
            }
        }
        return new Finding(Outcome.UNSIGNED, "it has no signatures");
    }

    private static Stream<?> all(@Nullable Object list) {
        return list instanceof List<?> elements ? elements.stream() : Stream.of();
    }

    private static @Nullable String host(@Nullable String url) {
        try {
            String host = url == null ? null : URI.create(url).getHost();
            return host == null ? null : host.toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }
}
