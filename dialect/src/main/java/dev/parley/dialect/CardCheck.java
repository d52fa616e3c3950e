package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Checks cards by the schema of their version. A finding has the pointer of the member, the clause that it breaks, and a fix.
 *
 * <p>{@code card-schemas.json} holds the schemas by name: the type of each member, of which those with a question mark are
 * optional. Types of lists and maps have the type of their elements, types of objects the name of their schema.
 *
 * <p>Source: A2A specification 1.0, sections 4.4 and 4.5; 0.3.0, section 5.5; 0.2.5; 0.1.0; Agentic Kernel; AgentVault 0.2.
 */
public final class CardCheck {
    private static final Map<?, ?> SCHEMAS = read();
    private static final String V1 = "A2A 1.0";

    /** Examples of members that are often missing. */
    private static final Map<String, String> EXAMPLES = Map.ofEntries(
            Map.entry("version", "\"1.0.0\""),
            Map.entry("protocolBinding", "\"JSONRPC\""),
            Map.entry("protocolVersion", "\"1.0\", or that of the older version"),
            Map.entry("url", "\"https://agent.example.com/a2a\""),
            Map.entry("defaultInputModes", "[\"text/plain\"]"),
            Map.entry("defaultOutputModes", "[\"text/plain\"]"),
            Map.entry("capabilities", "{\"streaming\": true}"),
            Map.entry("tags", "[\"billing\", \"invoices\"]"),
            Map.entry(
                    "supportedInterfaces",
                    "[{\"url\": \"https://agent.example.com/a2a\", \"protocolBinding\": \"JSONRPC\", \"protocolVersion\": \"1.0\"}]"),
            Map.entry("provider", "{\"organization\": \"Example\", \"url\": \"https://example.com\"}"));

    /** Sections of 1.0 by the schemas of objects. */
    private static final Map<String, String> SECTIONS = Map.ofEntries(
            Map.entry("provider", "4.4.2"),
            Map.entry("capabilities", "4.4.3"),
            Map.entry("extension", "4.4.4"),
            Map.entry("skill", "4.4.5"),
            Map.entry("interface", "4.4.6"),
            Map.entry("signature", "4.4.7"),
            Map.entry("scheme", "4.5.1"),
            Map.entry("apiKey", "4.5.2"),
            Map.entry("http", "4.5.3"),
            Map.entry("oauth2", "4.5.4"),
            Map.entry("openIdConnect", "4.5.5"));

    /** Sections of 0.3 and 0.2. */
    private static final Map<String, String> LEGACY_SECTIONS = Map.ofEntries(
            Map.entry("provider", "5.5.1"),
            Map.entry("legacyCapabilities", "5.5.2"),
            Map.entry("extension", "5.5.2.1"),
            Map.entry("legacyScheme", "5.5.3"),
            Map.entry("legacyApiKey", "5.5.3"),
            Map.entry("http", "5.5.3"),
            Map.entry("oauth2", "5.5.3"),
            Map.entry("skill", "5.5.4"),
            Map.entry("transport", "5.5.5"),
            Map.entry("signature", "5.5.6"),
            Map.entry("openIdConnect", "5.5.3"));

    /** Weight of a finding: an error breaks the specification, a warning or a note does not. */
    public enum Severity {
        ERROR,
        WARNING,
        NOTE
    }

    /**
     * A finding.
     *
     * @param clause of the specification, such as {@code A2A 1.0, 4.4.5}
     * @param pointer JSON pointer of the member, which is absent if it is missing
     * @param message without the place; may quote the card
     * @param fix for the author of the card
     */
    public record Finding(Severity severity, String clause, String pointer, String message, String fix) {
        /** The place and the problem in one line. */
        public String text() {
            String path = pointer.replaceFirst("^/", "")
                    .replaceAll("/(\\d+)(?=/|$)", "[$1]")
                    .replace('/', '.');
            return path.replace("~1", "/").replace("~0", "~") + " " + message;
        }
    }

    private final String root;
    private final List<Finding> findings = new ArrayList<>();

    private CardCheck(String root) {
        this.root = root;
    }

    /** The names of the schemas of a card, by its version; before 1.0 only one, in addition to which it may be a card of 1.0. */
    public static List<String> schemas(Map<String, @Nullable Object> card) {
        var schemas = new ArrayList<String>();
        if (card.containsKey("supportedInterfaces")) {
            schemas.add(V1);
        }
        String version = card.get("protocolVersion") instanceof String text ? text : "";
        if (card.containsKey("humanReadableId") && card.containsKey("schemaVersion")) {
            schemas.add("AgentVault 0.2");
        } else if (version.startsWith("0.3") || version.startsWith("0.2")) {
            schemas.add("A2A " + version.substring(0, 3));
        } else if (schemas.isEmpty() && card.containsKey("default_input_modes")) {
            schemas.add("Agentic Kernel");
        } else if (schemas.isEmpty() && card.containsKey("authentication")) {
            schemas.add("A2A 0.1");
        } else if (schemas.isEmpty() && card.containsKey("url")) {
            boolean newer = card.containsKey("preferredTransport") || card.containsKey("security");
            boolean oldest = !card.containsKey("description") || !card.containsKey("defaultInputModes");
            schemas.add("A2A " + (newer ? "0.3" : oldest ? "0.1" : "0.2"));
        }
        return schemas.isEmpty() ? List.of(V1) : schemas;
    }

    private static Map<?, ?> read() {
        try (InputStream in = requireNonNull(CardCheck.class.getResourceAsStream("card-schemas.json"))) {
            return Json.read(in.readAllBytes(), Map.class);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Returns the errors of a card by the schema of a version; empty if there are none. */
    public static List<Finding> faults(Map<String, @Nullable Object> card, String schema) {
        var check = new CardCheck(schema);
        check.members("", card, schema);
        return check.findings;
    }

    /** The clause of a version that describes an object of a card. */
    static String clause(String version, String schema) {
        String section = version.equals(V1)
                ? SECTIONS.getOrDefault(schema, "4.4.1")
                : version.matches("A2A 0\\.[23]") ? LEGACY_SECTIONS.getOrDefault(schema, "5.5") : "agent card";
        return version + ", " + section;
    }

    private static Map<?, ?> schema(String name) {
        return (Map<?, ?>) requireNonNull(SCHEMAS.get(name), name);
    }

    private void members(String at, Map<?, ?> object, String schema) {
        schema(schema).forEach((member, type) -> {
            String name = member.toString().replace("?", "");
            Object value = object.get(name);
            if (value != null) {
                check(at + "/" + name, value, type.toString(), schema);
            } else if (!member.toString().endsWith("?")) {
                String expected = expected(type.toString());
                String example = EXAMPLES.get(name);
                String fix = "Add \"" + name + "\": " + (example == null ? expected : "for example " + example);
                add(at + "/" + name, schema, "is missing (expected: " + expected + ")", fix);
            }
        });
    }

    /** @param owner schema of the object that has the value */
    private void check(String at, @Nullable Object value, String type, String owner) {
        String kind = type.replaceFirst(" .*", "");
        String inner = type.substring(kind.length()).strip();
        boolean fits = switch (kind) {
            case "text", "url", "choice" -> value instanceof String;
            case "boolean" -> value instanceof Boolean;
            case "texts" -> value instanceof List<?> list && list.stream().allMatch(String.class::isInstance);
            case "list", "some" -> value instanceof List<?>;
            default -> value instanceof Map<?, ?>;
        };
        if (!fits) {
            wrong(at, owner, expected(type));
        } else if (kind.equals("url") && !isUrl(String.valueOf(value))) {
            wrong(at, owner, "an absolute URL");
        } else if (kind.equals("choice") && !List.of(inner.split(", | or ")).contains(String.valueOf(value))) {
            wrong(at, owner, inner);
        } else if (value instanceof List<?> list && !inner.isEmpty()) {
            if (list.isEmpty() && kind.equals("some")) {
                String name = at.substring(at.lastIndexOf('/') + 1);
                String fix = "Add an element, for example " + EXAMPLES.getOrDefault(name, expected(inner));
                add(at, owner, "is empty (expected: at least one)", fix);
            }
            for (int i = 0; i < list.size(); i++) {
                check(at + "/" + i, list.get(i), "object " + inner, inner);
            }
        } else if (value instanceof Map<?, ?> object && !inner.isEmpty()) {
            switch (kind) {
                case "map" -> object.forEach((name, one) -> check(at + "/" + escaped(name), one, inner, owner));
                case "one-of" -> oneOf(at, object, inner);
                case "by-type" -> byType(at, object, inner);
                default -> members(at, object, inner);
            }
        }
    }

    static String escaped(Object name) {
        return name.toString().replace("~", "~0").replace("/", "~1");
    }

    /** Checks an object that has one of the members of a schema. */
    private void oneOf(String at, Map<?, ?> object, String schema) {
        List<?> present =
                schema(schema).keySet().stream().filter(object::containsKey).toList();
        if (present.size() == 1) {
            Object name = present.getFirst();
            check(
                    at + "/" + name,
                    object.get(name),
                    String.valueOf(schema(schema).get(name)),
                    schema);
        } else {
            wrong(at, schema, "exactly one of " + names(schema));
        }
    }

    /** Checks an object whose member {@code type} is the name of a member of a schema. */
    private void byType(String at, Map<?, ?> object, String schema) {
        Object type = schema(schema).get(String.valueOf(object.get("type")));
        if (type == null) {
            wrong(at + "/type", schema, names(schema));
        } else {
            check(at, object, type.toString(), schema);
        }
    }

    private static String names(String schema) {
        var names = new TreeSet<String>();
        schema(schema).keySet().forEach(name -> names.add(name.toString()));
        return String.join(", ", names);
    }

    private void wrong(String at, String schema, String expected) {
        add(at, schema, "is wrong (expected: " + expected + ")", "Replace the value by " + expected);
    }

    private void add(String at, String schema, String message, String fix) {
        findings.add(new Finding(Severity.ERROR, clause(root, schema), at, message, fix));
    }

    private static String expected(String type) {
        return switch (type.replaceFirst(" .*", "")) {
            case "text", "url", "choice" -> "a text";
            case "boolean" -> "true or false";
            case "texts" -> "a list of texts";
            case "list", "some" -> "a list";
            default -> "an object";
        };
    }

    private static boolean isUrl(String text) {
        try {
            return URI.create(text).isAbsolute() || text.matches("[\\w.-]+:\\d+"); // gRPC's host:port
        } catch (IllegalArgumentException wrong) {
            return false;
        }
    }
}
