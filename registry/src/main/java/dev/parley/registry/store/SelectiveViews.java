package dev.parley.registry.store;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardSigner;
import dev.parley.extension.HubSignatures;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.document.CardReader;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selective views of a document, the most specific first: the first one whose conditions a caller fulfils is the caller's. Conditions of one
 * kind are alternatives, and all kinds that are given must hold; a view without conditions is for all readers.
 */
final class SelectiveViews {
    private static final int MOST = 50;
    private static final String SKILLS = "skills";
    private static final List<String> INTERFACES = List.of("supportedInterfaces", "additionalInterfaces");
    private static final Set<String> SIGNATURES = Set.of("signatures", "signature");

    /**
     * A view.
     *
     * @param conditions by their kind
     * @param skills ids of the skills that it shows; null for all
     * @param endpoints URLs or bindings of the interfaces that it shows; null for all
     * @param hide names of members of the document that it leaves out
     */
    record View(
            String name,
            Map<String, List<String>> conditions,
            @Nullable List<String> skills,
            @Nullable List<String> endpoints,
            List<String> hide) {
        boolean isFor(CallContext caller) {
            return conditions.entrySet().stream().allMatch(each -> holds(each.getKey(), each.getValue(), caller));
        }

        private static boolean holds(String kind, List<String> values, CallContext caller) {
            if (kind.equals("addresses")) {
                return values.stream().anyMatch(range -> isWithin(caller.address(), range));
            }
            if (caller.isUnauthenticated()) {
                return false;
            }
            return switch (kind) {
                case "groups" -> values.contains(caller.scope().group());
                case "scopes" -> values.stream().anyMatch(caller.grants()::contains);
                default -> values.contains(caller.caller());
            };
        }

        boolean isForAll() {
            return conditions.isEmpty();
        }

        /** The document as this view shows it, without signatures. */
        byte[] of(byte[] document) {
            Map<String, @Nullable Object> members = JsonText.read(document, Codecs.STRUCT);
            var shown = new LinkedHashMap<String, @Nullable Object>();
            members.forEach((name, value) -> {
                if (hide.contains(name) || SIGNATURES.contains(name)) {
                    return;
                }
                if (name.equals(SKILLS) && skills != null) {
                    shown.put(name, kept(value, skills, "id"));
                } else if (INTERFACES.contains(name) && endpoints != null) {
                    shown.put(name, kept(value, endpoints, "url", "protocolBinding", "transport"));
                } else {
                    shown.put(name, value);
                }
            });
            return Json.write(shown);
        }

        private static @Nullable Object kept(@Nullable Object elements, Collection<String> wanted, String... members) {
            if (!(elements instanceof List<?> list)) {
                return elements;
            }
            var kept = new ArrayList<@Nullable Object>();
            for (Object each : list) {
                for (String member : members) {
                    if (each instanceof Map<?, ?> map
                            && map.get(member) instanceof String value
                            && wanted.contains(value)) {
                        kept.add(each);
                        break;
                    }
                }
            }
            return kept;
        }
    }

    private SelectiveViews() {}

    /**
     * Reads views as their owner gives them: objects by name.
     *
     * @param document that they are of; each must be a good document again
     * @throws A2AException if they are wrong
     */
    static List<View> checked(Map<String, ReviewOperation.View> given, String type, byte[] document) {
        if (given.size() > MOST) {
            throw A2AException.invalidParams("views", given.size() + " (expected: at most " + MOST + ")");
        }
        List<View> views = of(given);
        for (View view : views) {
            try {
                var unused = CardReader.read(type, view.of(document), null, null, Map.of());
            } catch (A2AException broken) {
                throw A2AException.invalidParams("views." + view.name(), "leaves no document: " + broken.getMessage());
            }
            view.conditions().getOrDefault("addresses", List.of()).forEach(range -> {
                if (network(range) == null) {
                    throw A2AException.invalidParams(
                            "views." + view.name() + ".addresses", range + " (expected: such as 10.0.0.0/8)");
                }
            });
        }
        return views;
    }

    /** Reads stored views. */
    static List<View> of(byte @Nullable [] json) {
        return json == null ? List.of() : of(JsonText.read(json, ReviewOperation.VIEWS_JSON));
    }

    private static List<View> of(Map<String, ReviewOperation.View> given) {
        return given.entrySet().stream()
                .map(view -> of(view.getKey(), view.getValue()))
                .toList();
    }

    private static View of(String name, ReviewOperation.View given) {
        var conditions = new LinkedHashMap<String, List<String>>();
        put(conditions, "groups", given.groups());
        put(conditions, "scopes", given.scopes());
        put(conditions, "principals", given.principals());
        put(conditions, "addresses", given.addresses());
        return new View(name, conditions, given.skills(), given.endpoints(), given.hide());
    }

    private static void put(Map<String, List<String>> conditions, String kind, @Nullable List<String> values) {
        if (values != null) {
            conditions.put(kind, values);
        }
    }

    /** Returns the resource for callers without a view, which shows only that the entry exists. */
    static Entry.Resource bare(Entry.Resource of) {
        return new Entry.Resource(
                of.type(),
                of.name(),
                "",
                of.version(),
                of.humanId(),
                null,
                of.digest(),
                of.provider(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                of.schemes(),
                Map.of());
    }

    /** Returns the resource of an entry by a view of its document. */
    static Entry.Resource resource(Entry.Resource whole, View view, byte[] document) {
        return CardReader.read(whole.type(), view.of(document), whole.url(), whole.humanId(), whole.metadata())
                .resource();
    }

    /** Part of a document that all readers see; null for all of it. */
    static Entry.@Nullable Resource open(Entry.Resource whole, List<View> views, byte[] document) {
        if (views.isEmpty()) {
            return null;
        }
        return views.stream()
                .filter(View::isForAll)
                .findFirst()
                .map(view -> resource(whole, view, document))
                .orElseGet(() -> bare(whole));
    }

    /** Signs cards with the key of the hub; leaves them as they are if it has none. */
    static byte[] signed(byte[] card, HubSignatures signatures) {
        if (signatures.keys().isEmpty()) {
            return card;
        }
        CardSigner signer = payload -> {
            String jws = signatures.sign(payload).orElseThrow();
            return new AgentCard.Signature(
                    jws.substring(0, jws.indexOf('.')), jws.substring(jws.lastIndexOf('.') + 1), Map.of());
        };
        return signer.signed(card);
    }

    /** Whether an address is within a range such as {@code 10.0.0.0/8}. */
    private static boolean isWithin(String address, String range) {
        byte[] network = network(range);
        byte[] host = literal(address);
        if (network == null || host == null || network.length != host.length) {
            return false;
        }
        int bits = bits(range, network.length * 8);
        for (int i = 0; i < bits; i++) {
            int mask = 0x80 >> (i % 8);
            if ((network[i / 8] & mask) != (host[i / 8] & mask)) {
                return false;
            }
        }
        return true;
    }

    private static byte @Nullable [] network(String range) {
        int slash = range.indexOf('/');
        byte[] network = literal(slash < 0 ? range : range.substring(0, slash));
        int bits = network == null ? -1 : bits(range, network.length * 8);
        return bits < 0 ? null : network;
    }

    /** Length of the prefix; -1 if it is not one. */
    private static int bits(String range, int most) {
        int slash = range.indexOf('/');
        if (slash < 0) {
            return most;
        }
        String digits = range.substring(slash + 1);
        return digits.matches("[0-9]{1,3}") && Integer.parseInt(digits) <= most ? Integer.parseInt(digits) : -1;
    }

    private static byte @Nullable [] literal(String address) {
        if (!address.matches("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
            return null; // a name would be looked up
        }
        try {
            return InetAddress.getByName(address).getAddress();
        } catch (UnknownHostException none) {
            return null;
        }
    }
}
