package dev.parley.cli;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything in a card that breaks the A2A schema, by its path.
 *
 * <p>Source: A2A specification 1.0, sections 4.4 and 4.5.
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

    /** What is wrong, each with its path; empty if nothing is. */
    static List<String> faults(Map<String, @Nullable Object> card) {
        var check = new CardCheck();
        check.members("", card, CARD);
        check.interfaces(card.get("supportedInterfaces"));
        if (card.get("capabilities") instanceof Map<?, ?> capabilities) {
            check.members("capabilities", capabilities, CAPABILITIES);
            check.each("capabilities.extensions", capabilities.get("extensions"), EXTENSION);
        }
        if (card.get("provider") instanceof Map<?, ?> provider) {
            check.members("provider", provider, PROVIDER);
        }
        check.each("skills", card.get("skills"), SKILL);
        check.each("signatures", card.get("signatures"), SIGNATURE);
        check.schemes(card.get("securitySchemes"));
        return check.faults;
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
                if (interfaces.get(i) instanceof Map<?, ?> one && one.get("url") instanceof String url && !isUrl(url)) {
                    faults.add("supportedInterfaces[" + i + "].url is wrong (expected: an absolute URL)");
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
