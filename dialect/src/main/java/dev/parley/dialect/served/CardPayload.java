package dev.parley.dialect.served;

import dev.parley.dialect.Json;
import dev.parley.dialect.v1.V1Card;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Payload of card signatures: the card without its signatures, in canonical JSON.
 *
 * <p>The specification canonicalizes the fields of 1.0, and does not define the treatment of members for older versions in the
 * same card. Some signers include them, others do not read them; so there are two payloads, and a signature over either is
 * valid.
 *
 * <p>Source: A2A specification 1.0, sections 5.7 and 8.4.1.
 *
 * @param whole all members as written
 * @param found members that a reader of 1.0 finds, as {@link Json#readCard} returns them; the same as {@code whole} for an
 *     older card, and for a card to which the reader adds members, or whose members it finds under other names
 */
public record CardPayload(byte[] whole, byte[] found) {
    static final String SIGNATURES = "signatures";

    /**
     * Which members of an object go when they have the default value of their type: those that are neither required nor
     * {@code optional} in the protocol's definition. Objects have no default value.
     *
     * @param defaults the names of those members
     * @param inside the objects in it, in lists of it or in maps of it, by the name of the member
     */
    private record Fields(Set<String> defaults, Map<String, Fields> inside) {
        static Fields of(String... defaults) {
            return new Fields(Set.of(defaults), Map.of());
        }

        Fields with(String member, Fields fields) {
            var more = new LinkedHashMap<>(inside);
            more.put(member, fields);
            return new Fields(defaults, more);
        }

        /** The same objects as values of a map. */
        static Fields each(Fields fields) {
            return of().with(EACH, fields);
        }

        @Nullable
        Fields at(String member) {
            return inside.getOrDefault(member, inside.get(EACH));
        }
    }

    private static final String EACH = "*";

    private static final Fields REQUIREMENT = Fields.of("schemes").with("schemes", Fields.each(Fields.of("list")));
    private static final Fields FLOW_THAT_IS_NEEDED = Fields.of("refreshUrl", "pkceRequired");
    private static final Fields FLOW_THAT_WAS = Fields.of("authorizationUrl", "tokenUrl", "refreshUrl", "scopes");
    private static final Fields SCHEME = Fields.each(Fields.of("description", "bearerFormat", "oauth2MetadataUrl")
            .with(
                    "flows",
                    Fields.each(FLOW_THAT_IS_NEEDED)
                            .with("implicit", FLOW_THAT_WAS)
                            .with("password", FLOW_THAT_WAS)));
    private static final Fields CARD = Fields.of("securitySchemes", "securityRequirements")
            .with("supportedInterfaces", Fields.of("tenant"))
            .with("provider", Fields.of())
            .with(
                    "capabilities",
                    Fields.of("extensions").with("extensions", Fields.of("uri", "description", "required")))
            .with("securitySchemes", Fields.each(SCHEME))
            .with("securityRequirements", REQUIREMENT)
            .with(
                    "skills",
                    Fields.of("examples", "inputModes", "outputModes", "securityRequirements")
                            .with("securityRequirements", REQUIREMENT));

    /**
     * Returns the payloads of a card.
     *
     * @throws A2AException if it is not a card, or has no canonical form
     */
    public static CardPayload of(byte[] card) {
        Map<?, ?> members = JsonText.read(card, Codecs.STRUCT);
        if (!isV1(members)) {
            byte[] payload = CanonicalJson.of(withoutSignatures(members));
            return new CardPayload(payload, payload);
        }
        Map<?, ?> written = withoutDefaults(withoutSignatures(members), CARD);
        Map<?, ?> understood =
                JsonText.read(JsonText.write(V1Card.CARD, JsonText.read(card, V1Card.CARD)), Codecs.STRUCT);
        Map<?, ?> read = withoutDefaults(withoutSignatures(understood), CARD);
        byte[] whole = CanonicalJson.of(written);
        return new CardPayload(whole, holds(written, read) ? CanonicalJson.of(read) : whole);
    }

    /** True for the members of a card of 1.0. */
    public static boolean isV1(Map<?, ?> members) {
        return !isOfVault(members) && (members.containsKey("supportedInterfaces") || !members.containsKey("url"));
    }

    /** True for the members of a card of AgentVault. */
    public static boolean isOfVault(Map<?, ?> members) {
        return members.containsKey("humanReadableId") && members.containsKey("authSchemes");
    }

    /** True if nothing is in {@code part} that is not in {@code whole}. */
    private static boolean holds(@Nullable Object whole, @Nullable Object part) {
        return switch (part) {
            case Map<?, ?> members
            when whole instanceof Map<?, ?> all ->
                members.entrySet().stream()
                        .allMatch(one -> all.containsKey(one.getKey()) && holds(all.get(one.getKey()), one.getValue()));
            case List<?> elements
            when whole instanceof List<?> all ->
                elements.size() == all.size()
                        && IntStream.range(0, all.size()).allMatch(i -> holds(all.get(i), elements.get(i)));
            case null, default -> Objects.equals(whole, part);
        };
    }

    static Map<String, @Nullable Object> withoutSignatures(Map<?, ?> card) {
        var rest = new LinkedHashMap<String, @Nullable Object>();
        card.forEach((name, value) -> rest.put(String.valueOf(name), value));
        rest.remove(SIGNATURES);
        return rest;
    }

    private static Map<String, @Nullable Object> withoutDefaults(Map<?, ?> message, Fields fields) {
        var rest = new LinkedHashMap<String, @Nullable Object>();
        message.forEach((key, value) -> {
            String name = String.valueOf(key);
            Fields inside = fields.at(name);
            if (value != null && !(fields.defaults().contains(name) && isDefault(value))) {
                rest.put(name, inside == null ? value : withoutDefaults(value, inside));
            }
        });
        return rest;
    }

    private static Object withoutDefaults(Object value, Fields fields) {
        return switch (value) {
            case Map<?, ?> message -> withoutDefaults(message, fields);
            case List<?> list ->
                list.stream()
                        .map(one -> one instanceof Map<?, ?> message ? withoutDefaults(message, fields) : one)
                        .toList();
            default -> value;
        };
    }

    private static boolean isDefault(Object value) {
        return switch (value) {
            case String text -> text.isEmpty();
            case Boolean truth -> !truth;
            case List<?> list -> list.isEmpty();
            case Map<?, ?> map -> map.isEmpty();
            default -> false;
        };
    }
}
