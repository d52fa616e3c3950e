package dev.parley.cli.cards;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
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
 * Checks cards by the schema of their version; faults have the path of the member.
 *
 * <p>{@code card-schemas.json} holds the schemas by name: the type of each member, of which those with a question mark are
 * optional. Types of lists and maps have the type of their elements, types of objects the name of their schema.
 *
 * <p>Source: A2A specification 1.0, sections 4.4 and 4.5; 0.3.0, section 5.5; 0.2.5; 0.1.0; Agentic Kernel; AgentVault 0.2.
 */
public final class CardCheck {
    private static final Map<?, ?> SCHEMAS = read();
    private static final String V1 = "A2A 1.0";

    private final List<String> faults = new ArrayList<>();

    private CardCheck() {}

    /** The names of the schemas of a card, by its version; before 1.0 only one, in addition to which it may be a card of 1.0. */
    static List<String> schemas(Map<String, @Nullable Object> card) {
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

    /** Returns the faults of a card by the schema of a version, each with its path; empty if there are none. */
    public static List<String> faults(Map<String, @Nullable Object> card, String schema) {
        var check = new CardCheck();
        check.members("", card, schema);
        return check.faults;
    }

    private static Map<?, ?> schema(String name) {
        return (Map<?, ?>) requireNonNull(SCHEMAS.get(name), name);
    }

    private void members(String path, Map<?, ?> object, String schema) {
        schema(schema).forEach((member, type) -> {
            String name = member.toString().replace("?", "");
            String at = path.isEmpty() ? name : path + "." + name;
            Object value = object.get(name);
            if (value != null) {
                check(at, value, type.toString());
            } else if (!member.toString().endsWith("?")) {
                faults.add(at + " is missing (expected: " + expected(type.toString()) + ")");
            }
        });
    }

    private void check(String at, @Nullable Object value, String type) {
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
            wrong(at, expected(type));
        } else if (kind.equals("url") && !isUrl(String.valueOf(value))) {
            wrong(at, "an absolute URL");
        } else if (kind.equals("choice") && !List.of(inner.split(", | or ")).contains(String.valueOf(value))) {
            wrong(at, inner);
        } else if (value instanceof List<?> list && !inner.isEmpty()) {
            if (list.isEmpty() && kind.equals("some")) {
                faults.add(at + " is empty (expected: at least one)");
            }
            for (int i = 0; i < list.size(); i++) {
                check(at + "[" + i + "]", list.get(i), "object " + inner);
            }
        } else if (value instanceof Map<?, ?> object && !inner.isEmpty()) {
            switch (kind) {
                case "map" -> object.forEach((name, one) -> check(at + "." + name, one, inner));
                case "one-of" -> oneOf(at, object, inner);
                case "by-type" -> byType(at, object, inner);
                default -> members(at, object, inner);
            }
        }
    }

    /** Checks an object that has one of the members of a schema. */
    private void oneOf(String at, Map<?, ?> object, String schema) {
        List<?> present =
                schema(schema).keySet().stream().filter(object::containsKey).toList();
        if (present.size() == 1) {
            Object name = present.getFirst();
            check(
                    at + "." + name,
                    object.get(name),
                    String.valueOf(schema(schema).get(name)));
        } else {
            wrong(at, "exactly one of " + names(schema));
        }
    }

    /** Checks an object whose member {@code type} is the name of a member of a schema. */
    private void byType(String at, Map<?, ?> object, String schema) {
        Object type = schema(schema).get(String.valueOf(object.get("type")));
        if (type == null) {
            wrong(at + ".type", names(schema));
        } else {
            check(at, object, type.toString());
        }
    }

    private static String names(String schema) {
        var names = new TreeSet<String>();
        schema(schema).keySet().forEach(name -> names.add(name.toString()));
        return String.join(", ", names);
    }

    private void wrong(String at, String expected) {
        faults.add(at + " is wrong (expected: " + expected + ")");
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
