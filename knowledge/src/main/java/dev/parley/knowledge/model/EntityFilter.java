package dev.parley.knowledge.model;

import dev.parley.knowledge.api.Term;
import dev.parley.protocol.InvalidField;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Filter and order of entities. An entity is the subject of at least one statement.
 *
 * @param types entities that have one of these types; empty for any
 * @param text entities that say this text somewhere, whatever its case; null for any
 * @param conditions all of which hold
 * @param orderBy the predicate whose smallest value sorts them, those without it last; null for the order in which the
 *     store learnt of them
 */
public record EntityFilter(
        List<String> types,
        @Nullable String text,
        List<Condition> conditions,
        @Nullable String orderBy,
        boolean descending) {
    /** Characters of a text that is looked for: a database compares the whole of it at each place of each value. */
    public static final int MAX_TEXT = 500;

    public EntityFilter {
        requireShort("text", text == null ? "" : text);
        types = types.stream().map(Term::expand).toList();
        conditions = List.copyOf(conditions);
        orderBy = orderBy == null ? null : Term.expand(orderBy);
    }

    private static void requireShort(String field, String text) {
        if (text.length() > MAX_TEXT) {
            throw InvalidField.of(field, text.length() + " characters (expected: at most " + MAX_TEXT + ")");
        }
    }

    /** Comparison of values. Numbers and times are compared as such, the rest as text. */
    public enum Comparison {
        EQUAL,
        LESS,
        AT_MOST,
        MORE,
        AT_LEAST,
        /** The text occurs in it, whatever its case. */
        CONTAINS,
        /** The entity says something with the predicate; the value does not matter. */
        EXISTS
    }

    /**
     * Something that an entity has to say.
     *
     * @param predicate one of these says it
     * @param values one of these fits; ignored for {@code EXISTS}
     * @param holds false if it must not be so
     */
    public record Condition(List<String> predicate, Comparison comparison, List<Term> values, boolean holds) {
        public Condition {
            predicate = predicate.stream().map(Term::expand).toList();
            values = List.copyOf(values);
            for (Term value : comparison == Comparison.CONTAINS ? values : List.<Term>of()) {
                requireShort("values", value instanceof Term.Literal literal ? literal.lexical() : "");
            }
        }
    }
}
