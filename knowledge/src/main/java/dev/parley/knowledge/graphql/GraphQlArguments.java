package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.knowledge.model.Pattern;
import dev.parley.protocol.InvalidField;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Validated arguments of one field. */
record GraphQlArguments(Map<String, @Nullable Object> values) {
    @Nullable
    String text(String name) {
        return (String) values.get(name);
    }

    /** Returns a required argument. */
    String required(String name) {
        String text = text(name);
        if (text == null || text.isEmpty()) {
            throw InvalidField.of(name, "must not be empty");
        }
        return text;
    }

    boolean flag(String name) {
        return Boolean.TRUE.equals(values.get(name));
    }

    int number(String name, int otherwise) {
        return values.get(name) instanceof Integer number ? number : otherwise;
    }

    List<String> texts(String name) {
        return elements(name).stream().map(String.class::cast).toList();
    }

    /** Returns an argument as a list; a single value is a list of one element. */
    List<Object> elements(String name) {
        return switch (values.get(name)) {
            case null -> List.of();
            case List<?> list -> List.copyOf(list);
            case Object one -> List.of(one);
        };
    }

    List<Term> terms(String name) {
        return elements(name).stream()
                .map(value -> GraphQlAny.term(name, value))
                .toList();
    }

    @SuppressWarnings("unchecked") // input objects have names for keys
    GraphQlArguments object(String name) {
        return new GraphQlArguments(
                values.get(name) instanceof Map<?, ?> object ? (Map<String, @Nullable Object>) object : Map.of());
    }

    @SuppressWarnings("unchecked") // input objects have names for keys
    List<GraphQlArguments> objects(String name) {
        return elements(name).stream()
                .map(object -> new GraphQlArguments((Map<String, @Nullable Object>) object))
                .toList();
    }

    /**
     * Returns the requested page size.
     *
     * @throws InvalidField if it exceeds the limit
     */
    int first() {
        int first = number("first", GraphQlLimits.DEFAULT_PAGE);
        if (first < 1 || first > GraphQlLimits.MAX_PAGE) {
            throw InvalidField.of("first", first + " (expected: 1 to " + GraphQlLimits.MAX_PAGE + ")");
        }
        return first;
    }

    /** These arguments as the input {@code StatementFilter}, without its {@code ops}. */
    Pattern pattern() {
        var objects = new ArrayList<Term>();
        texts("objects").forEach(id -> objects.add(Term.Resource.of(id)));
        objects.addAll(terms("values"));
        return new Pattern(
                texts("graphs"),
                texts("subjects"),
                texts("subjectTypes"),
                texts("predicates"),
                objects,
                texts("sources"),
                certainty());
    }

    private @Nullable Double certainty() {
        if (!(values.get("minCertainty") instanceof Number number)) {
            return null;
        }
        double certainty = number.doubleValue();
        if (!(certainty >= 0 && certainty <= 1)) {
            throw InvalidField.of("minCertainty", certainty + " (expected: 0 to 1)");
        }
        return certainty;
    }

    /** The statements of an entity that the arguments {@code predicate} and {@code graph} leave. */
    Pattern about() {
        String predicate = text("predicate");
        String graph = text("graph");
        return Pattern.predicates(predicate == null ? List.of() : List.of(predicate))
                .in(graph == null ? List.of() : List.of(graph));
    }

    /** The entities that the field {@code entities} asks for. */
    EntityFilter entities() {
        String type = text("type");
        var conditions = objects("where").stream()
                .map(condition -> new Condition(
                        List.of(condition.required("predicate")),
                        Comparison.valueOf(condition.required("is")),
                        condition.terms("values"),
                        !condition.flag("not")))
                .toList();
        return new EntityFilter(
                type == null ? List.of() : List.of(type),
                text("text"),
                conditions,
                text("orderBy"),
                flag("descending"));
    }
}
