package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Term.Literal;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Classes of a graph as GraphQL types, in the order of their IRIs. */
record TypedModel(List<Type> types) {
    static final TypedModel EMPTY = new TypedModel(List.of());

    TypedModel {
        types = List.copyOf(types);
    }

    /**
     * A class.
     *
     * @param name of the type
     * @param one the root field that finds one by its id
     * @param all the root field that lists them; with {@code Page} after it, the one that pages through them
     * @param classes IRIs of the class and of those below it
     */
    record Type(String iri, String name, String one, String all, Set<String> classes, List<Field> fields) {
        Type {
            classes = Set.copyOf(classes);
            fields = List.copyOf(fields);
        }
    }

    /** Contents of a field. */
    enum Kind {
        TEXT,
        NUMBER,
        BOOLEAN,
        /** Values whose datatype is not known. */
        VALUE,
        /** Values, and entities by their ids. */
        ANY,
        ENTITY,
        /** Entities and values, each with what it is. */
        TERM;

        boolean isValue() {
            return this != ENTITY && this != TERM;
        }

        /** Returns a value as a field of this kind shows it; null if it cannot. */
        @Nullable
        Object shown(Literal literal) {
            return switch (this) {
                case TEXT -> literal.lexical();
                case NUMBER -> number(literal);
                case BOOLEAN -> literal.value() instanceof Boolean truth ? truth : null;
                case VALUE, ANY -> literal.value();
                case ENTITY, TERM -> null;
            };
        }

        private static @Nullable BigDecimal number(Literal literal) {
            if (literal.value() instanceof BigDecimal number) {
                return number;
            }
            try {
                // Doubles and floats are written as text, so as not to lose their datatype.
                return new BigDecimal(literal.lexical());
            } catch (NumberFormatException noNumber) {
                return null;
            }
        }
    }

    /**
     * Field of a class: the objects of a predicate or, if {@code inverse}, the subjects that point to an entity of the class.
     *
     * @param single true if there is at most one
     * @param target the type of the entities that are shown; null if it is not known
     * @param owners for an inverse field, IRIs of the classes of the entities that are shown; empty for any
     */
    record Field(
            String name,
            String predicate,
            Kind kind,
            boolean single,
            boolean inverse,
            @Nullable String target,
            Set<String> owners) {
        Field {
            owners = Set.copyOf(owners);
        }
    }

    /** Contents of a root field. */
    record Root(Type type, Cardinality cardinality) {
        enum Cardinality {
            ONE,
            ALL,
            PAGE
        }
    }

    /** Finds types and fields by their names. */
    record Index(Map<String, Map<String, Field>> fields, Map<String, Root> roots) {
        @Nullable
        Field field(String type, String name) {
            return fields.getOrDefault(type, Map.of()).get(name);
        }

        @Nullable
        Root root(String name) {
            return roots.get(name);
        }
    }

    Index index() {
        var fields = new HashMap<String, Map<String, Field>>();
        var roots = new HashMap<String, Root>();
        for (Type type : types) {
            var byName = new HashMap<String, Field>();
            type.fields().forEach(field -> byName.put(field.name(), field));
            fields.put(type.name(), byName);
            roots.put(type.one(), new Root(type, Root.Cardinality.ONE));
            roots.put(type.all(), new Root(type, Root.Cardinality.ALL));
            roots.put(type.all() + "Page", new Root(type, Root.Cardinality.PAGE));
        }
        return new Index(fields, roots);
    }
}
