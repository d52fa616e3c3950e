package dev.parley.dialect;

import dev.parley.dialect.CardCheck.Finding;
import dev.parley.dialect.CardCheck.Severity;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks of a card beyond the types of its members: addresses, ids, empty texts and lists, references to security schemes, and the
 * presence of signatures.
 *
 * <p>Source: A2A specification 1.0, sections 4.4, 5.7, 7.1 and 8.4.
 */
public final class CardRules {
    private static final int MOST = 200;
    private static final Set<String> BINDINGS = Set.of("JSONRPC", "GRPC", "HTTP+JSON");
    private static final List<String> TEXTS = List.of("name", "description", "version");
    private static final List<String> MODES = List.of("defaultInputModes", "defaultOutputModes");

    /** Names of the schemas in 0.3 and 0.2 of objects that have other names in 1.0. */
    private static final Map<String, String> LEGACY = Map.of("interface", "transport", "scheme", "legacyScheme");

    private final String version;
    private final boolean isV1;
    private final List<Finding> findings = new ArrayList<>();

    private CardRules(String version) {
        this.version = version;
        this.isV1 = version.equals("A2A 1.0");
    }

    /**
     * Returns all findings in a card by the schemas of its versions and by these rules, errors first, at most {@value #MOST}.
     *
     * @param versions as of {@link CardCheck#schemas}
     */
    public static List<Finding> findings(Map<String, @Nullable Object> card, List<String> versions) {
        var rules = new CardRules(versions.getFirst());
        versions.forEach(version -> rules.findings.addAll(CardCheck.faults(card, version)));
        rules.card(card);
        return rules.findings.stream()
                .sorted((a, b) -> a.severity().compareTo(b.severity()))
                .limit(MOST)
                .toList();
    }

    private void card(Map<?, ?> card) {
        for (String name : TEXTS) {
            if (card.get(name) instanceof String text && text.isBlank()) {
                Severity severity = name.equals("name") ? Severity.ERROR : Severity.WARNING;
                add(
                        severity,
                        empty(),
                        "/" + name,
                        "is empty (expected: a text)",
                        "Write the " + name + " of the agent");
            }
        }
        for (String name : MODES) {
            if (card.get(name) instanceof List<?> modes && modes.isEmpty()) {
                String message = "is empty (expected: media types)";
                add(Severity.WARNING, empty(), "/" + name, message, "Add a media type, such as \"text/plain\"");
            }
        }
        if (card.get("url") instanceof String url) {
            address("/url", url);
        }
        list(card, "supportedInterfaces").forEach((at, each) -> ofInterface(at, each));
        list(card, "additionalInterfaces").forEach((at, each) -> {
            if (each.get("url") instanceof String url && !"GRPC".equals(each.get("transport"))) {
                address(at + "/url", url);
            }
        });
        skills(card);
        requirements(card);
        if (!(card.get("signatures") instanceof List<?> signatures) || signatures.isEmpty()) {
            String clause = version.matches("A2A (1.0|0.3)") ? version + (isV1 ? ", 8.4" : ", 5.5.6") : "A2A 1.0, 8.4";
            String fix = "Sign the card, for example by \"parley card sign\"";
            add(Severity.NOTE, clause, "/signatures", "is missing: readers cannot verify the publisher", fix);
        }
    }

    private void ofInterface(String at, Map<?, ?> each) {
        String binding = String.valueOf(each.get("protocolBinding"));
        if (each.get("url") instanceof String url && !binding.equals("GRPC")) {
            address(at + "/url", url);
        }
        if (each.get("protocolBinding") instanceof String name && !BINDINGS.contains(name) && !name.contains(":")) {
            String fix = "Write JSONRPC, GRPC, HTTP+JSON, or the URI of a binding of your own";
            add(Severity.WARNING, clause("interface"), at + "/protocolBinding", "is no known binding", fix);
        }
        if (each.get("protocolVersion") instanceof String number && !number.matches("\\d+\\.\\d+")) {
            String message = "is no version of the form MAJOR.MINOR";
            add(Severity.WARNING, version + ", 3.6", at + "/protocolVersion", message, "Write \"1.0\" or \"0.3\"");
        }
    }

    private void address(String at, String url) {
        URI uri;
        try {
            uri = URI.create(url);
        } catch (IllegalArgumentException malformed) {
            return; // the schema has found it
        }
        String scheme = uri.getScheme();
        String host = uri.getHost();
        if (scheme == null || host == null || !scheme.matches("(?i)https?")) {
            String fix = "Write an address that begins with https://";
            add(Severity.ERROR, clause("interface"), at, "is no address of HTTP (expected: https)", fix);
        } else if (scheme.equalsIgnoreCase("http") && !host.matches("localhost|127\\..*|\\[::1]")) {
            String clause =
                    isV1 ? "A2A 1.0, 7.1" : version.equals("A2A 0.3") ? "A2A 0.3, 4.1" : version + ", agent card";
            add(Severity.WARNING, clause, at, "is not encrypted (expected: https)", "Serve the agent over TLS");
        }
    }

    private void skills(Map<?, ?> card) {
        if (card.get("skills") instanceof List<?> skills && skills.isEmpty()) {
            String fix = "Describe at least one skill with id, name, description and tags";
            add(Severity.WARNING, empty(), "/skills", "is empty (expected: at least one skill)", fix);
        }
        var ids = new HashSet<Object>();
        list(card, "skills").forEach((at, skill) -> {
            Object id = skill.get("id");
            if (id != null && !ids.add(id)) {
                add(
                        Severity.ERROR,
                        clause("skill"),
                        at + "/id",
                        "is the id of another skill, too",
                        "Give each skill an id of its own");
            }
            if (skill.get("tags") instanceof List<?> tags && tags.isEmpty()) {
                String fix = "Add words by which callers find the skill";
                add(Severity.WARNING, clause("skill"), at + "/tags", "is empty (expected: tags)", fix);
            }
        });
    }

    /** Requirements name schemes of the card. */
    private void requirements(Map<?, ?> card) {
        Set<?> schemes = card.get("securitySchemes") instanceof Map<?, ?> map ? map.keySet() : Set.of();
        String member = isV1 ? "securityRequirements" : "security";
        list(card, member).forEach((at, requirement) -> {
            Object inner = isV1 ? requirement.get("schemes") : null;
            String place = inner == null ? at : at + "/schemes";
            Map<?, ?> names = inner instanceof Map<?, ?> schemesOf ? schemesOf : requirement;
            for (Object name : names.keySet()) {
                if (!schemes.contains(name)) {
                    String message = "names a scheme that the card does not declare";
                    String fix = "Declare the scheme in \"securitySchemes\", or remove the requirement";
                    add(Severity.ERROR, clause("scheme"), place + "/" + CardCheck.escaped(name), message, fix);
                }
            }
        });
    }

    /** Objects of a list by their pointers. */
    private static Map<String, Map<?, ?>> list(Map<?, ?> card, String member) {
        var objects = new LinkedHashMap<String, Map<?, ?>>();
        if (card.get(member) instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                if (list.get(i) instanceof Map<?, ?> object) {
                    objects.put("/" + member + "/" + i, object);
                }
            }
        }
        return objects;
    }

    private String clause(String schema) {
        return CardCheck.clause(version, isV1 ? schema : LEGACY.getOrDefault(schema, schema));
    }

    /** The clause about required members that are present and empty. */
    private String empty() {
        return isV1 ? "A2A 1.0, 5.7" : CardCheck.clause(version, "");
    }

    private void add(Severity severity, String clause, String pointer, String message, String fix) {
        findings.add(new Finding(severity, clause, pointer, message, fix));
    }
}
