package dev.parley.registry.inspect;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.CardCheck;
import dev.parley.dialect.CardCheck.Finding;
import dev.parley.dialect.CardCheck.Severity;
import dev.parley.dialect.CardRules;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.InspectionOperation.InspectCard;
import dev.parley.registry.InspectionOperation.Inspection;
import dev.parley.registry.InspectionOperation.Signature;
import dev.parley.registry.InspectionOperation.SignatureHeader;
import dev.parley.registry.RegistryError;
import dev.parley.registry.document.CardFetch;
import dev.parley.registry.document.CardFetch.Fetched;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.SecretScan;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryPublisher;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.TrustCheck;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Inspects a card: findings with their clauses, verdict on its signatures, and the reachability of its interfaces. Fetches by the rule of
 * registrations, and writes nothing. Safe for any thread.
 */
public final class Inspector {
    private static final int MOST_SIGNATURES = 10;

    private final EntryReader reader;
    private final EntryPublisher publisher;
    private final CardFetch fetch;
    private final TrustCheck trust;
    private final Interfaces interfaces;

    /** @param addresses fetches the addresses of interfaces */
    public Inspector(Entries entries, CardFetch fetch, Fetch addresses, TrustCheck trust) {
        this.reader = entries.reader();
        this.publisher = entries.publisher();
        this.fetch = fetch;
        this.trust = trust;
        this.interfaces = new Interfaces(addresses);
    }

    /** @param entry that has the document; null for others */
    private record Subject(Fetched document, @Nullable Entry entry) {
        boolean isOwn() {
            return entry != null && entry.ownership().principal().equals(Entry.HUB) && !entry.isCopy();
        }
    }

    /** Answers the operation {@link InspectionOperation#INSPECT}. */
    public Inspection inspect(InspectCard given, CallContext caller) {
        String source = source(given);
        Subject subject = subject(source, given, caller);
        byte[] bytes = subject.document().bytes();
        if (bytes.length > CardReader.MAX_BYTES) {
            String limit = " bytes (expected: at most " + CardReader.MAX_BYTES + " bytes)";
            throw A2AException.invalidParams(source, bytes.length + limit);
        }
        return answer(subject, members(source, bytes), given.probe(), caller);
    }

    /** The name of the member that is the source of the card. */
    private static String source(InspectCard given) {
        var sources = new LinkedHashMap<String, @Nullable Object>();
        sources.put("url", given.url());
        sources.put("card", given.card());
        sources.put("bytes", given.bytes());
        sources.put("agent", given.agent());
        sources.put("id", given.id());
        String all = String.join(", ", sources.keySet());
        sources.values().removeIf(Objects::isNull);
        if (sources.size() != 1) {
            String problem = sources.isEmpty() ? "missing" : String.join(" and ", sources.keySet()) + " together";
            throw A2AException.invalidParams("card", problem + " (expected: one of " + all + ")");
        }
        return sources.keySet().iterator().next();
    }

    private static Map<String, @Nullable Object> members(String source, byte[] bytes) {
        try {
            return JsonText.request(bytes, Codecs.STRUCT::read);
        } catch (A2AException malformed) {
            throw A2AException.invalidParams(source, "no JSON object: " + malformed.getMessage());
        }
    }

    private Subject subject(String source, InspectCard given, CallContext caller) {
        return switch (source) {
            case "url" -> new Subject(fetch.cardOrDraft(caller.scope().group(), requireNonNull(given.url())), null);
            case "card" -> new Subject(new Fetched(null, Json.write(given.card())), null);
            case "bytes" -> new Subject(new Fetched(null, requireNonNull(given.bytes())), null);
            case "agent" -> {
                String agent = requireNonNull(given.agent());
                var own = new EntryFilter(
                        List.of(),
                        List.of(),
                        Map.of("metadata.agent", List.of(agent), "owner", List.of(Entry.HUB)),
                        false);
                List<Entry> found =
                        reader.list(own, Order.NAME, 1, null, caller).entries();
                yield of(found.isEmpty() ? null : found.getFirst(), "agent \"" + agent + "\": unknown", caller);
            }
            default ->
                of(
                        reader.find(requireNonNull(given.id()), caller).orElse(null),
                        "entry \"" + given.id() + "\": unknown",
                        caller);
        };
    }

    private Subject of(@Nullable Entry entry, String problem, CallContext caller) {
        if (entry == null) {
            throw A2AException.of(RegistryError.ENTRY_NOT_FOUND, problem);
        }
        byte[] document = reader.document(entry.id(), null, caller).bytes();
        return new Subject(new Fetched(entry.resource().url(), document), entry);
    }

    private Inspection answer(
            Subject subject, Map<String, @Nullable Object> members, boolean isProbed, CallContext caller) {
        byte[] bytes = subject.document().bytes();
        String url = subject.document().url();
        Entry entry = subject.entry();
        List<String> dialects = CardCheck.schemas(members);
        AgentCard card = null;
        String problem = null;
        try {
            card = Json.readCard(bytes, blemish -> {}); // of which the findings tell
        } catch (A2AException unreadable) {
            problem = String.valueOf(unreadable.getMessage());
        }
        Interfaces.Reach reach =
                subject.isOwn() ? Interfaces.Reach.OWN : isProbed ? Interfaces.Reach.PROBED : Interfaces.Reach.UNKNOWN;
        return new Inspection(
                url,
                entry == null ? registered(bytes, url, caller) : entry.id(),
                dialects,
                CardReader.digest(bytes),
                members,
                card == null ? null : JsonText.read(Json.write(card), Codecs.STRUCT),
                problem,
                findings(members, dialects),
                signature(trust.signatures(bytes, url), members),
                interfaces.of(
                        card == null ? List.of() : card.supportedInterfaces(),
                        caller.scope().group(),
                        reach));
    }

    /** The entry that a registration by the caller would change; null for none. */
    private @Nullable String registered(byte[] bytes, @Nullable String url, CallContext caller) {
        try {
            return publisher.registered(bytes, url, caller).map(Entry::id).orElse(null);
        } catch (A2AException refused) {
            return null; // of a card that cannot be registered
        }
    }

    private static List<Finding> findings(Map<String, @Nullable Object> members, List<String> dialects) {
        var findings = new ArrayList<Finding>(CardRules.findings(members, dialects));
        String secret = SecretScan.find(members);
        if (secret != null) {
            int colon = secret.indexOf(": ");
            String pointer = "/"
                    + secret.substring(0, colon).replaceAll("\\[(\\d+)]", ".$1").replace('.', '/');
            String fix = "Remove the value, revoke it, and give it to callers by another way";
            findings.addFirst(new Finding(Severity.ERROR, "A2A 1.0, 14.3", pointer, secret.substring(colon + 2), fix));
        }
        return findings;
    }

    private static Signature signature(Verdict verdict, Map<?, ?> members) {
        return new Signature(
                verdict.outcome(),
                verdict.reason(),
                verdict.keyId(),
                members.get("signatures") instanceof List<?> signatures
                        ? signatures.stream()
                                .limit(MOST_SIGNATURES)
                                .map(Inspector::header)
                                .toList()
                        : null);
    }

    /** Key, algorithm and address of the key, as the header of a signature names them. */
    private static SignatureHeader header(@Nullable Object signature) {
        try {
            Map<?, ?> named =
                    signature instanceof Map<?, ?> members && members.get("protected") instanceof String encoded
                            ? Json.read(Base64.getUrlDecoder().decode(encoded), Map.class)
                            : Map.of();
            return new SignatureHeader(text(named.get("kid")), text(named.get("alg")), text(named.get("jku")), null);
        } catch (IllegalArgumentException | A2AException malformed) {
            return new SignatureHeader(null, null, null, "no header of a JWS");
        }
    }

    private static @Nullable String text(@Nullable Object value) {
        return value instanceof String text ? text : null;
    }
}
