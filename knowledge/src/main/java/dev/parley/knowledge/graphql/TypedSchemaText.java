package dev.parley.knowledge.graphql;

import dev.parley.knowledge.graphql.TypedModel.Field;
import dev.parley.knowledge.graphql.TypedModel.Type;
import java.util.Set;

/** Writes the classes of a graph in the schema language. */
final class TypedSchemaText {
    /** Arguments that every list of entities has; predicates of that name are reached by {@code filter}. */
    static final Set<String> ARGUMENTS = Set.of("filter", "text", "orderBy", "descending", "first", "after");

    private static final String COMMON = """
            "A number as JSON has it."
            scalar Number

            "What a value has to be: all that is given."
            input ValueFilter {
              "One of these."
              equal: [Any!]
              "None of these."
              not: [Any!]
              less: Any
              atMost: Any
              more: Any
              atLeast: Any
              "The text occurs in it, whatever its case."
              contains: String
              "True if there must be a value, false if there must be none."
              exists: Boolean
            }

            input EntityFilter {
              equal: [ID!]
              not: [ID!]
              exists: Boolean
            }
            """;

    private final StringBuilder out = new StringBuilder();

    private TypedSchemaText() {}

    /** Returns what {@code model} adds to the generic schema; nothing if it has no types. */
    static String of(TypedModel model) {
        var text = new TypedSchemaText();
        if (model.types().isEmpty()) {
            return "";
        }
        text.out.append(COMMON);
        model.types().forEach(text::write);
        return text.out.toString();
    }

    private void write(Type type) {
        String name = type.name();
        String arguments = arguments(type);
        out.append("extend type Query {\n");
        field(type.iri(), type.all(), arguments, "[" + name + "!]");
        field(type.iri(), type.all() + "Page", arguments, name + "Page");
        field(type.iri(), type.one(), "id: ID!", name);
        out.append("}\n\n");
        describe("", type.iri());
        out.append("type ").append(name).append(" {\n");
        out.append("""
                  _id: ID!
                  _types: [String!]!
                  _statements(predicate: String, graph: String, first: Int, after: String): StatementPage
                  _incoming(predicate: String, first: Int, after: String): StatementPage
                  "The same in terms of the generic schema."
                  _entity: Entity!
                """);
        type.fields().forEach(this::write);
        out.append("}\n\ntype ")
                .append(name)
                .append("Page {\n  nodes: [")
                .append(name)
                .append("!]!\n  pageInfo: PageInfo!\n}\n\n");
        if (isFiltered(type)) {
            out.append("input ").append(name).append("Filter {\n");
            type.fields().stream()
                    .filter(field -> !field.inverse())
                    .forEach(field -> out.append("  ")
                            .append(field.name())
                            .append(field.kind() == TypedModel.Kind.ENTITY ? ": EntityFilter\n" : ": ValueFilter\n"));
            out.append("}\n\nenum ").append(name).append("Order {\n");
            type.fields().stream()
                    .filter(field -> !field.inverse())
                    .forEach(field -> out.append("  ").append(field.name()).append('\n'));
            out.append("}\n\n");
        }
    }

    private static boolean isFiltered(Type type) {
        return type.fields().stream().anyMatch(field -> !field.inverse());
    }

    private static String arguments(Type type) {
        var arguments = new StringBuilder();
        if (isFiltered(type)) {
            arguments.append("filter: ").append(type.name()).append("Filter, ");
            arguments.append("orderBy: ").append(type.name()).append("Order, descending: Boolean = false, ");
        }
        type.fields().stream()
                .filter(field -> !field.inverse() && !ARGUMENTS.contains(field.name()))
                .forEach(field -> arguments
                        .append(field.name())
                        .append(field.kind() == TypedModel.Kind.ENTITY ? ": [ID!], " : ": [Any!], "));
        return arguments + "text: String, first: Int, after: String";
    }

    private void write(Field field) {
        String one = switch (field.kind()) {
            case TEXT -> "String";
            case NUMBER -> "Number";
            case BOOLEAN -> "Boolean";
            case VALUE, ANY -> "Any";
            case ENTITY -> field.target() == null ? "Entity" : field.target();
            case TERM -> "Term";
        };
        String language = field.kind().isValue() ? "language: [String!]" : "";
        String first = language.isEmpty() ? "first: Int" : ", first: Int";
        field(
                (field.inverse() ? "points here: " : "") + field.predicate(),
                field.name(),
                field.single() ? language : language + first,
                field.single() ? one : "[" + one + "!]!");
    }

    private void field(String description, String name, String arguments, String type) {
        describe("  ", description);
        out.append("  ").append(name);
        if (!arguments.isEmpty()) {
            out.append('(').append(arguments).append(')');
        }
        out.append(": ").append(type).append('\n');
    }

    private void describe(String indent, String description) {
        out.append(indent).append('"');
        description.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').appendCodePoint(c);
            } else if (c < ' ') {
                out.append("\\u").append(String.format("%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        out.append("\"\n");
    }
}
