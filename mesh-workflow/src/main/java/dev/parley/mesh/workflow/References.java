package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.protocol.InvalidField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * References in the texts of a step's parameters: <code>${facts.text}</code>, <code>${facts.data.x}</code> or <code>${facts.files}</code>
 * to the result of a step, and <code>${input.topic}</code> to an input of the run. A text that is one reference becomes its value, of any
 * type; in longer texts values are written as texts. <code>$${</code> is a literal <code>${</code>.
 */
final class References {
    /** Name of the inputs of a run, which no step may have as its id. */
    static final String INPUT = "input";

    private static final String BEGIN = "${";
    private static final String LITERAL = "$${";

    /** Finds the value of a reference. */
    @FunctionalInterface
    interface Lookup {
        /**
         * @param place of the text in the document
         * @throws InvalidField if there is no such value
         */
        @Nullable
        Object value(String reference, String place);
    }

    private References() {}

    /**
     * Passes the references in a value to a consumer, with their places.
     *
     * @throws InvalidField if one has no end
     */
    static void each(@Nullable Object value, String place, BiConsumer<String, String> consumer) {
        var unused = resolved(value, place, (reference, at) -> {
            consumer.accept(reference, at);
            return "";
        });
    }

    /** A value with the values of its references. */
    static @Nullable Object resolved(@Nullable Object value, String place, Lookup lookup) {
        return switch (value) {
            case String text -> text(text, place, lookup);
            case Map<?, ?> members -> {
                var resolved = new LinkedHashMap<String, @Nullable Object>();
                members.forEach((name, member) ->
                        resolved.put(String.valueOf(name), resolved(member, place + "." + name, lookup)));
                yield resolved;
            }
            case List<?> elements -> {
                var resolved = new ArrayList<@Nullable Object>();
                for (int i = 0; i < elements.size(); i++) {
                    resolved.add(resolved(elements.get(i), place + "[" + i + "]", lookup));
                }
                yield resolved;
            }
            case null, default -> value;
        };
    }

    private static @Nullable Object text(String text, String place, Lookup lookup) {
        if (!text.contains(BEGIN)) {
            return text;
        }
        var resolved = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            if (text.startsWith(LITERAL, at)) {
                resolved.append(BEGIN);
                at += LITERAL.length();
            } else if (text.startsWith(BEGIN, at)) {
                int end = text.indexOf('}', at);
                if (end < 0) {
                    throw InvalidField.of(place, "a reference without its end (expected: \"}\"; $${ for a literal ${)");
                }
                Object value = lookup.value(text.substring(at + BEGIN.length(), end), place);
                if (at == 0 && end == text.length() - 1) {
                    return value;
                }
                resolved.append(value instanceof String string ? string : new String(Json.write(value), UTF_8));
                at = end + 1;
            } else {
                resolved.append(text.charAt(at++));
            }
        }
        return resolved.toString();
    }

    /**
     * A reference in its parts.
     *
     * @param step id of a step, or {@link #INPUT}
     * @param member {@code text}, {@code data} or {@code files} of a step; empty for inputs
     * @param path to a value inside; empty for the value itself
     */
    record Target(String step, String member, String path) {}

    private static final Pattern MEMBER = Pattern.compile("(text)|(data|files)([.\\[].*)?", Pattern.DOTALL);

    /**
     * The parts of a reference.
     *
     * @param steps ids of the steps that have one
     * @throws InvalidField if it refers to nothing
     */
    static Target target(String written, String place, Collection<String> steps) {
        String reference = written.strip();
        if (reference.startsWith(INPUT + ".")) {
            return new Target(INPUT, "", reference.substring(INPUT.length() + 1));
        }
        for (int dot = reference.lastIndexOf('.'); dot > 0; dot = reference.lastIndexOf('.', dot - 1)) {
            String step = reference.substring(0, dot);
            Matcher member = MEMBER.matcher(reference.substring(dot + 1));
            if (steps.contains(step) && member.matches()) {
                return member.group(1) != null
                        ? new Target(step, "text", "")
                        : new Target(step, member.group(2), requireNonNullElse(member.group(3), ""));
            }
        }
        throw missing(
                written,
                place,
                "unknown (expected: ${STEP.text}, ${STEP.data.MEMBER}, ${STEP.files} or ${input.NAME}, with the id of"
                        + " a step; $${ for a literal ${)");
    }

    /** The error of a reference without a value. */
    static InvalidField missing(String reference, String place, String problem) {
        return InvalidField.of(place, "\"${" + reference + "}\": " + problem);
    }

    /**
     * A value inside of another, by names of members and positions of elements.
     *
     * @param path such as {@code rows.0.name} or {@code rows[0].name}; empty for the value itself
     * @throws InvalidField if there is none
     */
    static @Nullable Object at(@Nullable Object value, String path, String reference, String place) {
        Object found = value;
        for (String name : path.replaceAll("\\[(\\d{1,9})]", ".$1").split("\\.", -1)) {
            if (name.isEmpty()) {
                continue;
            }
            int index = name.matches("\\d{1,9}") ? Integer.parseInt(name) : -1;
            if (found instanceof Map<?, ?> members && members.containsKey(name)) {
                found = members.get(name);
            } else if (found instanceof List<?> elements && index >= 0 && index < elements.size()) {
                found = elements.get(index);
            } else {
                throw missing(reference, place, "missing (expected: a value with \"" + name + "\")");
            }
        }
        return found;
    }
}
