package dev.parley.registry.inspect;

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
import dev.parley.registry.RegistryError;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.store.CardFetch;
import dev.parley.registry.store.CardFetch.Fetched;
import dev.parley.registry.store.CardReader;
import dev.parley.registry.store.Entries.Filter;
import dev.parley.registry.store.Handler;
import dev.parley.registry.store.Secrets;
import dev.parley.registry.store.StoredEntries;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.TrustCheck;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Inspects a card: findings with their clauses, verdict on its signatures, and the reachability of its interfaces. Fetches by the rule of
 * registrations, and writes nothing. Safe for any thread.
 */
public final class Inspector {
    private static final List<String> SOURCES = List.of("url", "card", "bytes", "agent", "id");
    private static final int MOST_SIGNATURES = 10;

    private final StoredEntries entries;
    private final CardFetch fetch;
    private final TrustCheck trust;
    private final Interfaces interfaces;

    /** @param addresses fetches the addresses of interfaces */
    public Inspector(StoredEntries entries, CardFetch fetch, Fetch addresses, TrustCheck trust) {
        this.entries = entries;
        this.fetch = fetch;
        this.trust = trust;
        this.interfaces = new Interfaces(addresses);
    }

    /** Handlers by the names of their operations. */
    public Map<String, Handler> handlers() {
        return Map.of(RegistryProtocol.INSPECT, this::inspect);
    }

    /** @param entry that has the document; null for others */
    private record Subject(Fetched document, @Nullable Entry entry) {
        boolean isOwn() {
            return entry != null && entry.ownership().principal().equals(Entry.HUB) && !entry.isCopy();
        }
    }

    private Object inspect(Map<String, @Nullable Object> given, CallContext caller) {
        List<String> sources = SOURCES.stream().filter(given::containsKey).toList();
        if (sources.size() != 1) {
            String problem = sources.isEmpty() ? "missing" : String.join(" and ", sources) + " together";
            throw A2AException.invalidParams(
                    "card", problem + " (expected: one of " + String.join(", ", SOURCES) + ")");
        }
        Subject subject = subject(sources.getFirst(), given, caller);
        byte[] bytes = subject.document().bytes();
        if (bytes.length > CardReader.MAX_BYTES) {
            String limit = " bytes (expected: at most " + CardReader.MAX_BYTES + " bytes)";
            throw A2AException.invalidParams(sources.getFirst(), bytes.length + limit);
        }
        boolean isProbed = !Boolean.FALSE.equals(given.get("probe"));
        return answer(subject, members(sources.getFirst(), bytes), isProbed, caller);
    }

    private static Map<String, @Nullable Object> members(String source, byte[] bytes) {
        try {
            return JsonText.request(bytes, Codecs.STRUCT::read);
        } catch (A2AException malformed) {
            throw A2AException.invalidParams(source, "no JSON object: " + malformed.getMessage());
        }
    }

    private Subject subject(String source, Map<String, @Nullable Object> given, CallContext caller) {
        String text = Objects.toString(given.get(source));
        return switch (source) {
            case "url" -> new Subject(fetch.cardOrDraft(caller.scope().group(), text), null);
            case "card" -> new Subject(new Fetched(null, Json.write(given.get(source))), null);
            case "bytes" -> {
                try {
                    yield new Subject(new Fetched(null, Base64.getDecoder().decode(text)), null);
                } catch (IllegalArgumentException none) {
                    throw A2AException.invalidParams("bytes", "no base64 (expected: the bytes of a card)");
                }
            }
            case "agent" -> {
                var own = new Filter(
                        List.of(),
                        List.of(),
                        Map.of("metadata.agent", List.of(text), "owner", List.of(Entry.HUB)),
                        false);
                List<Entry> found = entries.list(own, "name", 1, null, caller).entries();
                yield of(found.isEmpty() ? null : found.getFirst(), "agent \"" + text + "\": unknown", caller);
            }
            default -> of(entries.find(text, caller).orElse(null), "entry \"" + text + "\": unknown", caller);
        };
    }

    private Subject of(@Nullable Entry entry, String problem, CallContext caller) {
        if (entry == null) {
            throw A2AException.of(RegistryError.ENTRY_NOT_FOUND, problem);
        }
        byte[] document = entries.document(entry, caller).bytes();
        return new Subject(new Fetched(entry.resource().url(), document), entry);
    }

    private Object answer(
            Subject subject, Map<String, @Nullable Object> members, boolean isProbed, CallContext caller) {
        byte[] bytes = subject.document().bytes();
        String url = subject.document().url();
        Entry entry = subject.entry();
        List<String> dialects = CardCheck.schemas(members);
        var answer = new LinkedHashMap<String, @Nullable Object>();
        if (url != null) {
            answer.put("url", url);
        }
        String id = entry == null ? registered(bytes, url, caller) : entry.id();
        if (id != null) {
            answer.put("entry", id);
        }
        answer.put("dialect", dialects.getFirst());
        answer.put("dialects", dialects);
        answer.put("digest", TrustCheck.digest(bytes));
        answer.put("card", members);
        AgentCard card = null;
        try {
            card = Json.readCard(bytes, blemish -> {}); // of which the findings tell
            answer.put("asV1", Json.read(Json.write(card), Map.class));
        } catch (A2AException unreadable) {
            answer.put("problem", String.valueOf(unreadable.getMessage()));
        }
        answer.put(
                "findings",
                findings(members, dialects).stream().map(Inspector::json).toList());
        answer.put("signature", json(trust.signatures(bytes, url), members));
        List<AgentCard.Interface> all = card == null ? List.of() : card.supportedInterfaces();
        Interfaces.Reach reach =
                subject.isOwn() ? Interfaces.Reach.OWN : isProbed ? Interfaces.Reach.PROBED : Interfaces.Reach.UNKNOWN;
        answer.put("interfaces", interfaces.of(all, caller.scope().group(), reach));
        return answer;
    }

    /** The entry that a registration by the caller would change; null for none. */
    private @Nullable String registered(byte[] bytes, @Nullable String url, CallContext caller) {
        try {
            return entries.registered(bytes, url, caller).map(Entry::id).orElse(null);
        } catch (A2AException refused) {
            return null; // of a card that cannot be registered
        }
    }

    private static List<Finding> findings(Map<String, @Nullable Object> members, List<String> dialects) {
        var findings = new ArrayList<Finding>(CardRules.findings(members, dialects));
        String secret = Secrets.find(members);
        if (secret != null) {
            int colon = secret.indexOf(": ");
            String pointer = "/"
                    + secret.substring(0, colon).replaceAll("\\[(\\d+)]", ".$1").replace('.', '/');
            String fix = "Remove the value, revoke it, and give it to callers by another way";
            findings.addFirst(new Finding(Severity.ERROR, "A2A 1.0, 14.3", pointer, secret.substring(colon + 2), fix));
        }
        return findings;
    }

    private static Map<String, Object> json(Finding finding) {
        var json = new LinkedHashMap<String, Object>();
        json.put("severity", finding.severity().name().toLowerCase(Locale.ROOT));
        json.put("clause", finding.clause());
        json.put("pointer", finding.pointer());
        json.put("message", finding.message());
        json.put("fix", finding.fix());
        return json;
    }

    private static Map<String, Object> json(Verdict verdict, Map<?, ?> members) {
        var json = new LinkedHashMap<String, Object>();
        json.put("outcome", verdict.outcome().name().toLowerCase(Locale.ROOT));
        json.put("reason", verdict.reason());
        if (verdict.keyId() != null) {
            json.put("keyId", verdict.keyId());
        }
        if (members.get("signatures") instanceof List<?> signatures) {
            json.put(
                    "signatures",
                    signatures.stream()
                            .limit(MOST_SIGNATURES)
                            .map(Inspector::header)
                            .toList());
        }
        return json;
    }

    /** Key, algorithm and address of the key, as the header of a signature names them. */
    private static Map<String, Object> header(@Nullable Object signature) {
        var header = new LinkedHashMap<String, Object>();
        try {
            if (signature instanceof Map<?, ?> members && members.get("protected") instanceof String encoded) {
                Map<?, ?> named = Json.read(Base64.getUrlDecoder().decode(encoded), Map.class);
                for (String name : List.of("kid", "alg", "jku")) {
                    if (named.get(name) instanceof String text) {
                        header.put(name, text);
                    }
                }
            }
        } catch (IllegalArgumentException | A2AException malformed) {
            header.put("problem", "no header of a JWS");
        }
        return header;
    }
}
