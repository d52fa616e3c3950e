package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.graphql.TypedModel.Field;
import dev.parley.knowledge.graphql.TypedModel.Kind;
import dev.parley.knowledge.graphql.TypedModel.Type;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.protocol.InvalidField;
import java.util.ArrayList;
import java.util.List;

/** Reads which members of a class a typed root field asks for. */
final class TypedFilter {
    private final List<Condition> conditions = new ArrayList<>();

    private TypedFilter() {}

    /** @throws InvalidField if a value stands for no term */
    static EntityFilter of(Type type, GraphQlArguments arguments) {
        var filter = new TypedFilter();
        var given = arguments.object("filter");
        String orderBy = null;
        for (Field field : type.fields()) {
            if (field.inverse()) {
                continue;
            }
            if (!TypedSchemaText.ARGUMENTS.contains(field.name())) {
                filter.add(field, Comparison.EQUAL, arguments, field.name(), true);
            }
            filter.add(field, given.object(field.name()));
            if (field.name().equals(arguments.text("orderBy"))) {
                orderBy = field.predicate();
            }
        }
        return new EntityFilter(
                List.copyOf(type.classes()),
                arguments.text("text"),
                filter.conditions,
                orderBy,
                arguments.flag("descending"));
    }

    private void add(Field field, GraphQlArguments given) {
        add(field, Comparison.EQUAL, given, "equal", true);
        add(field, Comparison.EQUAL, given, "not", false);
        add(field, Comparison.LESS, given, "less", true);
        add(field, Comparison.AT_MOST, given, "atMost", true);
        add(field, Comparison.MORE, given, "more", true);
        add(field, Comparison.AT_LEAST, given, "atLeast", true);
        add(field, Comparison.CONTAINS, given, "contains", true);
        if (given.values().get("exists") instanceof Boolean exists) {
            conditions.add(new Condition(List.of(field.predicate()), Comparison.EXISTS, List.of(), exists));
        }
    }

    private void add(Field field, Comparison comparison, GraphQlArguments given, String name, boolean holds) {
        // A list without elements is a condition, which nothing meets; null is not a condition.
        if (given.values().get(name) == null) {
            return;
        }
        List<Term> values = field.kind() == Kind.ENTITY
                ? given.texts(name).stream().<Term>map(Term.Resource::of).toList()
                : given.terms(name);
        conditions.add(new Condition(List.of(field.predicate()), comparison, values, holds));
    }
}
