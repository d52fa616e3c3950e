package dev.parley.cli;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks cards against the schema of the version that they are written in; faults have the path of the member.
 *
 * <p>Source: A2A specification 1.0, sections 4.4 and 4.5; 0.3.0, section 5.5; 0.2.5; 0.1.0; Agentic Kernel; AgentVault 0.2.
 */
final class CardCheck {
    private enum Kind {
        TEXT("a text"),
        BOOLEAN("true or false"),
        OBJECT("an object"),
        LIST("a list"),
        TEXTS("a list of texts");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        boolean fits(Object value) {
            return switch (this) {
                case TEXT -> value instanceof String;
                case BOOLEAN -> value instanceof Boolean;
                case OBJECT -> value instanceof Map<?, ?>;
                case LIST -> value instanceof List<?>;
                case TEXTS -> value instanceof List<?> list && list.stream().allMatch(String.class::isInstance);
            };
        }
    }

    /** One member of an object. */
    private record Member(String name, Kind kind, boolean required) {
        static Member required(String name, Kind kind) {
            return new Member(name, kind, true);
        }

        static Member optional(String name, Kind kind) {
            return new Member(name, kind, false);
        }
    }

    private static final List<Member> CARD = List.of(
            Member.required("name", Kind.TEXT),
            Member.required("description", Kind.TEXT),
            Member.required("version", Kind.TEXT),
            Member.required("supportedInterfaces", Kind.LIST),
            Member.required("capabilities", Kind.OBJECT),
            Member.required("defaultInputModes", Kind.TEXTS),
            Member.required("defaultOutputModes", Kind.TEXTS),
            Member.required("skills", Kind.LIST),
            Member.optional("provider", Kind.OBJECT),
            Member.optional("documentationUrl", Kind.TEXT),
            Member.optional("iconUrl", Kind.TEXT),
            Member.optional("securitySchemes", Kind.OBJECT),
            Member.optional("securityRequirements", Kind.LIST),
            Member.optional("signatures", Kind.LIST));
    private static final List<Member> INTERFACE = List.of(
            Member.required("url", Kind.TEXT),
            Member.required("protocolBinding", Kind.TEXT),
            Member.required("protocolVersion", Kind.TEXT),
            Member.optional("tenant", Kind.TEXT));
    private static final List<Member> CAPABILITIES = List.of(
            Member.optional("streaming", Kind.BOOLEAN),
            Member.optional("pushNotifications", Kind.BOOLEAN),
            Member.optional("extendedAgentCard", Kind.BOOLEAN),
            Member.optional("extensions", Kind.LIST));
    private static final List<Member> EXTENSION = List.of(
            Member.required("uri", Kind.TEXT),
            Member.optional("description", Kind.TEXT),
            Member.optional("required", Kind.BOOLEAN),
            Member.optional("params", Kind.OBJECT));
    private static final List<Member> PROVIDER =
            List.of(Member.required("organization", Kind.TEXT), Member.required("url", Kind.TEXT));
    private static final List<Member> SKILL = List.of(
            Member.required("id", Kind.TEXT),
            Member.required("name", Kind.TEXT),
            Member.required("description", Kind.TEXT),
            Member.required("tags", Kind.TEXTS),
            Member.optional("examples", Kind.TEXTS),
            Member.optional("inputModes", Kind.TEXTS),
            Member.optional("outputModes", Kind.TEXTS),
            Member.optional("securityRequirements", Kind.LIST));
    private static final List<Member> CARD_03 = List.of(
            Member.required("protocolVersion", Kind.TEXT),
            Member.required("name", Kind.TEXT),
            Member.required("description", Kind.TEXT),
            Member.required("url", Kind.TEXT),
            Member.required("version", Kind.TEXT),
            Member.required("capabilities", Kind.OBJECT),
            Member.required("defaultInputModes", Kind.TEXTS),
            Member.required("defaultOutputModes", Kind.TEXTS),
            Member.required("skills", Kind.LIST),
            Member.optional("preferredTransport", Kind.TEXT),
            Member.optional("additionalInterfaces", Kind.LIST),
            Member.optional("provider", Kind.OBJECT),
            Member.optional("documentationUrl", Kind.TEXT),
            Member.optional("iconUrl", Kind.TEXT),
            Member.optional("securitySchemes", Kind.OBJECT),
            Member.optional("security", Kind.LIST),
            Member.optional("supportsAuthenticatedExtendedCard", Kind.BOOLEAN),
            Member.optional("signatures", Kind.LIST));
    private static final List<Member> CARD_02 = CARD_03.stream()
            .map(member ->
                    member.name().equals("protocolVersion") ? Member.optional(member.name(), member.kind()) : member)
            .toList();
    private static final List<Member> CARD_01 = List.of(
            Member.required("name", Kind.TEXT),
            Member.required("url", Kind.TEXT),
            Member.required("version", Kind.TEXT),
            Member.required("capabilities", Kind.OBJECT),
            Member.required("skills", Kind.LIST),
            Member.optional("description", Kind.TEXT),
            Member.optional("provider", Kind.OBJECT),
            Member.optional("documentationUrl", Kind.TEXT),
            Member.optional("authentication", Kind.OBJECT),
            Member.optional("defaultInputModes", Kind.TEXTS),
            Member.optional("defaultOutputModes", Kind.TEXTS));
    private static final List<Member> CARD_KERNEL = List.of(
            Member.required("name", Kind.TEXT),
            Member.required("url", Kind.TEXT),
            Member.required("version", Kind.TEXT),
            Member.required("capabilities", Kind.OBJECT),
            Member.required("default_input_modes", Kind.TEXTS),
            Member.required("default_output_modes", Kind.TEXTS),
            Member.required("skills", Kind.LIST),
            Member.optional("description", Kind.TEXT),
            Member.optional("provider", Kind.OBJECT),
            Member.optional("documentation_url", Kind.TEXT),
            Member.optional("authentication", Kind.OBJECT));
    private static final List<Member> CARD_VAULT = List.of(
            Member.required("schemaVersion", Kind.TEXT),
            Member.required("humanReadableId", Kind.TEXT),
            Member.required("agentVersion", Kind.TEXT),
            Member.required("name", Kind.TEXT),
            Member.required("description", Kind.TEXT),
            Member.required("url", Kind.TEXT),
            Member.required("provider", Kind.OBJECT),
            Member.required("capabilities", Kind.OBJECT),
            Member.required("authSchemes", Kind.LIST),
            Member.optional("skills", Kind.LIST),
            Member.optional("tags", Kind.TEXTS),
            Member.optional("iconUrl", Kind.TEXT));
    private static final List<Member> TRANSPORT =
            List.of(Member.required("url", Kind.TEXT), Member.required("transport", Kind.TEXT));
    private static final List<Member> LEGACY_CAPABILITIES = List.of(
            Member.optional("streaming", Kind.BOOLEAN),
            Member.optional("pushNotifications", Kind.BOOLEAN),
            Member.optional("stateTransitionHistory", Kind.BOOLEAN),
            Member.optional("extensions", Kind.LIST));
    private static final List<Member> OLDEST_SKILL = List.of(
            Member.required("id", Kind.TEXT),
            Member.required("name", Kind.TEXT),
            Member.optional("description", Kind.TEXT),
            Member.optional("tags", Kind.TEXTS),
            Member.optional("examples", Kind.TEXTS));
    private static final List<Member> VAULT_SKILL = List.of(
            Member.required("id", Kind.TEXT),
            Member.required("name", Kind.TEXT),
            Member.required("description", Kind.TEXT));
    private static final List<Member> VAULT_AUTH = List.of(
            Member.required("scheme", Kind.TEXT),
            Member.optional("description", Kind.TEXT),
            Member.optional("tokenUrl", Kind.TEXT),
            Member.optional("scopes", Kind.TEXTS),
            Member.optional("service_identifier", Kind.TEXT));
    private static final Map<String, List<Member>> LEGACY_SCHEMES = Map.of(
            "apiKey",
            List.of(Member.required("in", Kind.TEXT), Member.required("name", Kind.TEXT)),
            "http",
            List.of(Member.required("scheme", Kind.TEXT)),
            "oauth2",
            List.of(Member.required("flows", Kind.OBJECT)),
            "openIdConnect",
            List.of(Member.required("openIdConnectUrl", Kind.TEXT)),
            "mutualTLS",
            List.of());
    private static final List<Member> SIGNATURE = List.of(
            Member.required("protected", Kind.TEXT),
            Member.required("signature", Kind.TEXT),
            Member.optional("header", Kind.OBJECT));
    private static final Map<String, List<Member>> SCHEMES = Map.of(
            "apiKeySecurityScheme",
            List.of(Member.required("location", Kind.TEXT), Member.required("name", Kind.TEXT)),
            "httpAuthSecurityScheme",
            List.of(Member.required("scheme", Kind.TEXT)),
            "oauth2SecurityScheme",
            List.of(Member.required("flows", Kind.OBJECT)),
            "openIdConnectSecurityScheme",
            List.of(Member.required("openIdConnectUrl", Kind.TEXT)),
            "mtlsSecurityScheme",
            List.of());

    private final List<String> faults = new ArrayList<>();

    private CardCheck() {}

    /** A version of the card. */
    enum Schema {
        V1("A2A 1.0"),
        V03("A2A 0.3"),
        V02("A2A 0.2"),
        V01("A2A 0.1"),
        KERNEL("Agentic Kernel"),
        VAULT("AgentVault 0.2");

        private final String label;

        Schema(String label) {
            this.label = label;
        }

        @Override
        public String toString() {
            return label;
        }

        /** The versions that a card is written in; of those before 1.0 only one, besides which it may be a card of 1.0. */
        static List<Schema> of(Map<String, @Nullable Object> card) {
            var schemas = new ArrayList<Schema>();
            if (card.containsKey("supportedInterfaces")) {
                schemas.add(V1);
            }
            String version = card.get("protocolVersion") instanceof String text ? text : "";
            if (card.containsKey("humanReadableId") && card.containsKey("schemaVersion")) {
                schemas.add(VAULT);
            } else if (version.startsWith("0.3")) {
                schemas.add(V03);
            } else if (version.startsWith("0.2")) {
                schemas.add(V02);
            } else if (schemas.isEmpty() && card.containsKey("default_input_modes")) {
                schemas.add(KERNEL);
            } else if (schemas.isEmpty() && card.containsKey("authentication")) {
                schemas.add(V01);
            } else if (schemas.isEmpty() && card.containsKey("url")) {
                boolean newer = card.containsKey("preferredTransport") || card.containsKey("security");
                boolean oldest = !card.containsKey("description") || !card.containsKey("defaultInputModes");
                schemas.add(newer ? V03 : oldest ? V01 : V02);
            }
            return schemas.isEmpty() ? List.of(V1) : schemas;
        }
    }

    /** Returns what is wrong by the schema of a version, each fault with its path; empty if nothing is. */
    static List<String> faults(Map<String, @Nullable Object> card, Schema schema) {
        var check = new CardCheck();
        switch (schema) {
            case V1 -> check.v1(card);
            case V03 -> check.legacy(card, CARD_03, SKILL);
            case V02 -> check.legacy(card, CARD_02, SKILL);
            case V01 -> check.legacy(card, CARD_01, OLDEST_SKILL);
            case KERNEL -> check.kernel(card);
            case VAULT -> check.vault(card);
        }
        return check.faults;
    }

    private void v1(Map<String, @Nullable Object> card) {
        members("", card, CARD);
        interfaces(card.get("supportedInterfaces"));
        if (card.get("capabilities") instanceof Map<?, ?> capabilities) {
            members("capabilities", capabilities, CAPABILITIES);
            each("capabilities.extensions", capabilities.get("extensions"), EXTENSION);
        }
        provider(card);
        each("skills", card.get("skills"), SKILL);
        each("signatures", card.get("signatures"), SIGNATURE);
        schemes(card.get("securitySchemes"));
    }

    private void legacy(Map<String, @Nullable Object> card, List<Member> members, List<Member> skill) {
        members("", card, members);
        address("url", card.get("url"));
        each("additionalInterfaces", card.get("additionalInterfaces"), TRANSPORT);
        if (card.get("capabilities") instanceof Map<?, ?> capabilities) {
            members("capabilities", capabilities, LEGACY_CAPABILITIES);
            each("capabilities.extensions", capabilities.get("extensions"), EXTENSION);
        }
        provider(card);
        each("skills", card.get("skills"), skill);
        each("signatures", card.get("signatures"), SIGNATURE);
        if (card.get("authentication") instanceof Map<?, ?> authentication) {
            members("authentication", authentication, List.of(Member.required("schemes", Kind.TEXTS)));
        }
        if (card.get("securitySchemes") instanceof Map<?, ?> schemes) {
            schemes.forEach((name, scheme) -> legacyScheme("securitySchemes." + name, scheme));
        }
    }

    private void kernel(Map<String, @Nullable Object> card) {
        members("", card, CARD_KERNEL);
        address("url", card.get("url"));
        each("skills", card.get("skills"), OLDEST_SKILL);
    }

    private void vault(Map<String, @Nullable Object> card) {
        members("", card, CARD_VAULT);
        address("url", card.get("url"));
        if (card.get("provider") instanceof Map<?, ?> provider) {
            members("provider", provider, List.of(Member.required("name", Kind.TEXT)));
        }
        if (card.get("capabilities") instanceof Map<?, ?> capabilities) {
            members("capabilities", capabilities, List.of(Member.required("a2aVersion", Kind.TEXT)));
        }
        each("authSchemes", card.get("authSchemes"), VAULT_AUTH);
        if (card.get("authSchemes") instanceof List<?> list && list.isEmpty()) {
            faults.add("authSchemes is empty (expected: at least one)");
        }
        each("skills", card.get("skills"), VAULT_SKILL);
    }

    private void legacyScheme(String at, @Nullable Object scheme) {
        if (!(scheme instanceof Map<?, ?> members)) {
            faults.add(at + " is wrong (expected: an object)");
            return;
        }
        List<Member> expected = LEGACY_SCHEMES.get(String.valueOf(members.get("type")));
        if (expected == null) {
            faults.add(at + ".type is wrong (expected: "
                    + String.join(
                            ", ", LEGACY_SCHEMES.keySet().stream().sorted().toList()) + ")");
            return;
        }
        members(at, members, expected);
    }

    private void provider(Map<String, @Nullable Object> card) {
        if (card.get("provider") instanceof Map<?, ?> provider) {
            members("provider", provider, PROVIDER);
        }
    }

    private void address(String at, @Nullable Object value) {
        if (value instanceof String url && !isUrl(url)) {
            faults.add(at + " is wrong (expected: an absolute URL)");
        }
    }

    private void members(String path, Map<?, ?> object, List<Member> expected) {
        for (Member member : expected) {
            Object value = object.get(member.name());
            String at = path.isEmpty() ? member.name() : path + "." + member.name();
            if (value == null) {
                if (member.required()) {
                    faults.add(at + " is missing (expected: " + member.kind().words + ")");
                }
            } else if (!member.kind().fits(value)) {
                faults.add(at + " is wrong (expected: " + member.kind().words + ")");
            }
        }
    }

    private void each(String path, @Nullable Object list, List<Member> expected) {
        if (list instanceof List<?> elements) {
            for (int i = 0; i < elements.size(); i++) {
                String at = path + "[" + i + "]";
                if (elements.get(i) instanceof Map<?, ?> object) {
                    members(at, object, expected);
                } else {
                    faults.add(at + " is wrong (expected: an object)");
                }
            }
        }
    }

    private void interfaces(@Nullable Object list) {
        each("supportedInterfaces", list, INTERFACE);
        if (list instanceof List<?> interfaces) {
            if (interfaces.isEmpty()) {
                faults.add("supportedInterfaces is empty (expected: at least one)");
            }
            for (int i = 0; i < interfaces.size(); i++) {
                if (interfaces.get(i) instanceof Map<?, ?> one) {
                    address("supportedInterfaces[" + i + "].url", one.get("url"));
                }
            }
        }
    }

    private void schemes(@Nullable Object schemes) {
        if (!(schemes instanceof Map<?, ?> byName)) {
            return;
        }
        byName.forEach((name, scheme) -> {
            String at = "securitySchemes." + name;
            if (!(scheme instanceof Map<?, ?> kinds)) {
                faults.add(at + " is wrong (expected: an object)");
                return;
            }
            List<String> known =
                    SCHEMES.keySet().stream().filter(kinds::containsKey).toList();
            if (known.size() != 1) {
                faults.add(at + " is wrong (expected: exactly one of "
                        + String.join(", ", SCHEMES.keySet().stream().sorted().toList()) + ")");
                return;
            }
            String kind = known.getFirst();
            if (kinds.get(kind) instanceof Map<?, ?> details) {
                members(at + "." + kind, details, SCHEMES.getOrDefault(kind, List.of()));
                Object location = details.get("location");
                if (location != null && !Set.of("header", "query", "cookie").contains(location)) {
                    faults.add(at + "." + kind + ".location is wrong (expected: header, query or cookie)");
                }
            } else {
                faults.add(at + "." + kind + " is wrong (expected: an object)");
            }
        });
    }

    private static boolean isUrl(String text) {
        try {
            return URI.create(text).isAbsolute() || text.matches("[\\w.-]+:\\d+"); // gRPC's host:port
        } catch (IllegalArgumentException wrong) {
            return false;
        }
    }
}
