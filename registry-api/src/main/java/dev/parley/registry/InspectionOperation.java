package dev.parley.registry;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.BYTES;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TIME;
import static dev.parley.protocol.json.Codecs.TRUTH;
import static dev.parley.protocol.json.Codecs.WORDS;
import static dev.parley.registry.EntryModel.CAUSE;
import static dev.parley.registry.EntryModel.HEALTH_STATUS;
import static dev.parley.registry.EntryModel.LATENCY;

import dev.parley.dialect.CardCheck;
import dev.parley.dialect.CardCheck.Finding;
import dev.parley.protocol.CardVerifier;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Documents;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.registry.Entry.Cause;
import dev.parley.registry.Entry.HealthStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations on health and trust of agents and cards: their requests, their answers, and a row for each. */
public final class InspectionOperation {
    private InspectionOperation() {}

    /** @param reason readers of the entry see it; 1 to 1,000 characters */
    @RegistryCall.Named("registry/revoke")
    public record RevokeEntry(String id, String reason) implements RegistryCall<Entry> {}

    /** Reads the signed list of revoked entries, a {@link RevocationList} as a JWS. */
    @RegistryCall.Named("registry/revocations")
    public record ReadRevocations() implements RegistryCall<WireDocument> {}

    @RegistryCall.Named("registry/health")
    public record ShowHealth(String id) implements RegistryCall<HealthHistory> {}

    /**
     * Health of an agent.
     *
     * @param latencyMillis of the last answer; -1 if there was none
     * @param probes the last ones, the newest first
     */
    public record HealthHistory(
            String id,
            HealthStatus status,
            Cause cause,
            String reason,
            @Nullable Instant since,
            long latencyMillis,
            List<ProbeResult> probes) {}

    /** @param latencyMillis until the answer; -1 if there was none */
    public record ProbeResult(Instant time, HealthStatus status, Cause cause, String reason, long latencyMillis) {}

    /**
     * Inspects a card, of which one source is given, and registers nothing.
     *
     * @param url address of the card, or of the agent; it is fetched
     * @param card the card as JSON
     * @param bytes the bytes of the card, for signed ones
     * @param agent of this hub
     * @param id URN or readable id of an entry
     * @param probe whether the interfaces are called
     */
    @RegistryCall.Named("registry/inspect")
    public record InspectCard(
            @Nullable String url,
            @Nullable Map<String, @Nullable Object> card,
            byte @Nullable [] bytes,
            @Nullable String agent,
            @Nullable String id,
            boolean probe)
            implements RegistryCall<Inspection> {}

    /**
     * Result of the inspection of a card.
     *
     * @param url from which it was fetched; null if it was not
     * @param entry id of its entry, or of the one that its registration by the caller would change; null for none
     * @param dialects that its members fit, the best first
     * @param digest of its bytes
     * @param card as it is
     * @param asV1 as a card of A2A 1.0; null if it cannot be read
     * @param problem for which it cannot be read; null if it can
     */
    public record Inspection(
            @Nullable String url,
            @Nullable String entry,
            List<String> dialects,
            String digest,
            Map<String, @Nullable Object> card,
            @Nullable Map<String, @Nullable Object> asV1,
            @Nullable String problem,
            List<Finding> findings,
            Signature signature,
            List<InterfaceState> interfaces) {}

    /**
     * Verdict on the signatures of a card.
     *
     * @param keyId of the key that verifies one; null for none
     * @param signatures what their headers say; null if the card has no list of signatures
     */
    public record Signature(
            CardVerifier.Outcome outcome,
            String reason,
            @Nullable String keyId,
            @Nullable List<SignatureHeader> signatures) {}

    /**
     * Members of the header of a signature; null for those that it does not have.
     *
     * @param problem for which it cannot be read; null if it can
     */
    public record SignatureHeader(
            @Nullable String kid,
            @Nullable String alg,
            @Nullable String jku,
            @Nullable String problem) {}

    /**
     * Reachability of an interface.
     *
     * @param reachable null if that is unknown
     * @param reason empty for none
     * @param millis until the answer; -1 if there was none
     */
    public record InterfaceState(
            String url,
            String binding,
            String dialect,
            @Nullable Boolean reachable,
            HealthStatus status,
            Cause cause,
            String reason,
            long millis) {}

    private static final Codec<ProbeResult> PROBE = ObjectCodec.<ProbeResult>of()
            .required("time", TIME, ProbeResult::time)
            .required("status", HEALTH_STATUS, ProbeResult::status)
            .required("cause", CAUSE, ProbeResult::cause)
            .required("reason", TEXT, ProbeResult::reason)
            .required("latencyMillis", LATENCY, ProbeResult::latencyMillis)
            .as(v -> new ProbeResult(v.next(), v.next(), v.next(), v.next(), v.<Long>next()));

    private static final Codec<HealthHistory> HISTORY = ObjectCodec.<HealthHistory>of()
            .required("id", TEXT, HealthHistory::id)
            .required("status", HEALTH_STATUS, HealthHistory::status)
            .required("cause", CAUSE, HealthHistory::cause)
            .required("reason", TEXT, HealthHistory::reason)
            .optional("since", TIME, HealthHistory::since)
            .required("latencyMillis", LATENCY, HealthHistory::latencyMillis)
            .required("probes", Codecs.list(PROBE), HealthHistory::probes)
            .as(v -> new HealthHistory(v.next(), v.next(), v.next(), v.next(), v.next(), v.<Long>next(), v.next()));

    private static final Codec<Finding> FINDING = ObjectCodec.<Finding>of()
            .required("severity", Codecs.words(CardCheck.Severity.class), Finding::severity)
            .required("clause", TEXT, Finding::clause)
            .required("pointer", TEXT, Finding::pointer)
            .required("message", TEXT, Finding::message)
            .required("fix", TEXT, Finding::fix)
            .as(v -> new Finding(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static final Codec<SignatureHeader> HEADER = ObjectCodec.<SignatureHeader>of()
            .optional("kid", TEXT, SignatureHeader::kid)
            .optional("alg", TEXT, SignatureHeader::alg)
            .optional("jku", TEXT, SignatureHeader::jku)
            .optional("problem", TEXT, SignatureHeader::problem)
            .as(v -> new SignatureHeader(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<Signature> SIGNATURE = ObjectCodec.<Signature>of()
            .required("outcome", Codecs.words(CardVerifier.Outcome.class), Signature::outcome)
            .required("reason", TEXT, Signature::reason)
            .optional("keyId", TEXT, Signature::keyId)
            .optional("signatures", Codecs.list(HEADER), Signature::signatures)
            .as(v -> new Signature(v.next(), v.next(), v.next(), v.next()));

    private static final Codec<InterfaceState> INTERFACE = ObjectCodec.<InterfaceState>of()
            .required("url", TEXT, InterfaceState::url)
            .required("binding", TEXT, InterfaceState::binding)
            .required("dialect", TEXT, InterfaceState::dialect)
            .optional("reachable", BOOLEAN, InterfaceState::reachable)
            .required("status", HEALTH_STATUS, InterfaceState::status)
            .required("cause", CAUSE, InterfaceState::cause)
            .optional("reason", TEXT, "", InterfaceState::reason)
            .optional("millis", COUNT, -1L, InterfaceState::millis)
            .as(v -> new InterfaceState(
                    v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.<Long>next()));

    private static final Codec<Inspection> INSPECTION = ObjectCodec.<Inspection>of()
            .optional("url", TEXT, Inspection::url)
            .optional("entry", TEXT, Inspection::entry)
            .required("dialect", TEXT, inspection -> inspection.dialects().getFirst())
            .required("dialects", TEXTS, Inspection::dialects)
            .required("digest", TEXT, Inspection::digest)
            .required("card", STRUCT, Inspection::card)
            .optional("asV1", STRUCT, Inspection::asV1)
            .optional("problem", TEXT, Inspection::problem)
            .required("findings", Codecs.list(FINDING), Inspection::findings)
            .required("signature", SIGNATURE, Inspection::signature)
            .required("interfaces", Codecs.list(INTERFACE), Inspection::interfaces)
            .as(v -> new Inspection(
                    v.next(),
                    v.next(),
                    v.skip().next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next()));

    public static final ExtensionMethod<RevokeEntry, Entry> REVOKE = RegistryCall.row(
            RevokeEntry.class,
            "POST /agents/{id}:revoke",
            "Revoke an entry for good",
            EntryOperation.ofEntry(RevokeEntry::id)
                    .required("reason", TEXT, RevokeEntry::reason)
                    .help("TEXT", "Reason, which readers see.")
                    .as(v -> new RevokeEntry(v.next(), v.next())),
            EntryModel.ENTRY);

    public static final ExtensionMethod<ReadRevocations, WireDocument> REVOCATIONS = RegistryCall.row(
            ReadRevocations.class,
            "GET /revocations",
            "Get the signed list of revoked entries",
            ObjectCodec.<ReadRevocations>of().as(v -> new ReadRevocations()),
            Documents.JSON);

    public static final ExtensionMethod<ShowHealth, HealthHistory> HEALTH = RegistryCall.row(
            ShowHealth.class,
            "GET /agents/{id}/health",
            "Show the health of an agent, and its last probes",
            EntryOperation.ofEntry(ShowHealth::id).as(v -> new ShowHealth(v.next())),
            HISTORY);

    public static final ExtensionMethod<InspectCard, Inspection> INSPECT = RegistryCall.row(
            InspectCard.class,
            "POST /inspect",
            "Check a card, its signatures and its addresses, and register nothing",
            ObjectCodec.<InspectCard>of()
                    .optional("url", WORDS, InspectCard::url)
                    .help("URL", "Address of the card, or of the agent; it is fetched.")
                    .optional("card", STRUCT, InspectCard::card)
                    .help("CARD", "The card as JSON.")
                    .optional("bytes", BYTES, InspectCard::bytes)
                    .help("BASE64", "The bytes of the card in base64, for signed ones.")
                    .optional("agent", TEXT, InspectCard::agent)
                    .help("NAME", "Agent of this hub.")
                    .optional("id", TEXT, InspectCard::id)
                    .help("URN", "URN or readable id of an entry.")
                    .optional("probe", TRUTH, true, InspectCard::probe)
                    .help("", "Whether the interfaces are called; default true.")
                    .as(v -> new InspectCard(v.next(), v.next(), v.next(), v.next(), v.next(), v.<Boolean>next())),
            INSPECTION);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(REVOKE, REVOCATIONS, HEALTH, INSPECT);
}
