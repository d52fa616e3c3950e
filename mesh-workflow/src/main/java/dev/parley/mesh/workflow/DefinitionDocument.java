package dev.parley.mesh.workflow;

import dev.parley.protocol.InvalidField;
import java.text.Normalizer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Document of a stored definition: a workflow with a name, and a schema as {@code inputs}. */
public final class DefinitionDocument {
    private static final String NAME = "name";
    private static final String DESCRIPTION = "description";
    private static final String INPUTS = "inputs";
    private static final Pattern NAMES = Pattern.compile("[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M} ._-]{0,99}");
    private static final Set<String> MEMBERS =
            Set.of(NAME, DESCRIPTION, INPUTS, "coordinator", "participants", "workflow");

    private DefinitionDocument() {}

    /** Whether a document is one of a definition. */
    public static boolean is(Map<String, @Nullable Object> document) {
        return document.containsKey(NAME);
    }

    /**
     * The document with its name in canonical form.
     *
     * @throws InvalidField or {@link dev.parley.protocol.A2AException} if it is not one, with the place
     */
    public static Map<String, @Nullable Object> checked(Map<String, @Nullable Object> document) {
        document.keySet().forEach(member -> {
            if (!MEMBERS.contains(member)) {
                throw InvalidField.of(
                        member, "unknown member (expected: " + String.join(", ", new TreeSet<>(MEMBERS)) + ")");
            }
        });
        if (!(document.get(NAME) instanceof String name)) {
            throw InvalidField.of(NAME, "missing (expected: the name of the definition)");
        }
        if (document.get(DESCRIPTION) != null && !(document.get(DESCRIPTION) instanceof String)) {
            throw InvalidField.of(DESCRIPTION, "no text (expected: a text)");
        }
        var unused = workflow(document);
        var checked = new LinkedHashMap<>(document);
        checked.put(NAME, name(name));
        return checked;
    }

    /**
     * The workflow of a definition.
     *
     * @throws InvalidField as from {@link #checked}
     */
    public static Workflow workflow(Map<String, @Nullable Object> document) {
        WorkflowDocument read = WorkflowDocument.strict(plain(document));
        Workflow workflow = read.checkedWithoutInputs();
        Map<?, ?> schema = schema(document);
        InputsSchema.check(schema, INPUTS);
        Set<String> names = InputsSchema.names(schema);
        if (names != null) {
            read.requireInputs(names);
        }
        return workflow;
    }

    /** The document of a run without inputs. */
    static Map<String, @Nullable Object> plain(Map<String, @Nullable Object> document) {
        var plain = new LinkedHashMap<>(document);
        plain.keySet().removeAll(Set.of(NAME, DESCRIPTION, INPUTS));
        return plain;
    }

    private static Map<?, ?> schema(Map<String, @Nullable Object> document) {
        return switch (document.get(INPUTS)) {
            case null -> Map.of();
            case Map<?, ?> schema -> schema;
            default -> throw InvalidField.of(INPUTS, "no object (expected: a JSON Schema)");
        };
    }

    /** @throws InvalidField if this can be no name */
    static String name(String text) {
        String name = Normalizer.normalize(text, Normalizer.Form.NFC).strip();
        if (!NAMES.matcher(name).matches()) {
            throw InvalidField.of(
                    NAME,
                    '"' + text + "\" (expected: 1 to 100 letters, digits, spaces, \".\", \"_\" or \"-\","
                            + " of which the first is a letter or digit)");
        }
        return name;
    }

    /**
     * The document of a run.
     *
     * @param inputs its inputs, without defaults
     * @throws InvalidField if they do not fit the schema, with the place
     */
    public static Map<String, @Nullable Object> filled(
            Map<String, @Nullable Object> definition, Map<String, @Nullable Object> inputs) {
        var document = new LinkedHashMap<>(definition);
        document.keySet().removeAll(Set.of(NAME, DESCRIPTION));
        document.put(INPUTS, InputsSchema.filled(schema(definition), inputs));
        return document;
    }
}
