package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.EntityFilter.Comparison;
import dev.parley.knowledge.model.EntityFilter.Condition;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.SqlConditions.Where;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds entities by their types and by what they say. */
final class SqlEntities {
    private final DatabaseSession session;
    private final GroupCache space;
    private final Terms terms;
    private final Sql sql;
    private final SqlConditions conditions;

    SqlEntities(DatabaseSession session, GroupCache space, Terms terms, Sql sql, SqlConditions conditions) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.sql = sql;
        this.conditions = conditions;
    }

    /** Returns ids of the entities that the reader sees and {@code filter} fits. */
    StatementPage<String> page(EntityFilter filter, @Nullable String after, int limit) throws SQLException {
        var where = new Where("x.space = ?");
        Long type = terms.find(session, Resource.of(Term.TYPE));
        if (!filter.types().isEmpty()
                && (type == null
                        || !conditions.oneOf(where, "x.o", terms.findAll(session, filter.types()), filter.types()))) {
            return StatementPage.empty();
        }
        if (!filter.types().isEmpty()) {
            where.and("x.p = ?", type);
        }
        // Conditions on the entity itself are evaluated once per entity, not once per statement.
        var having = new Where("1 = 1");
        if (filter.text() != null) {
            says(having, "", true, "k.datatype <> 0 AND " + sql.contains("k.lexical"), filter.text());
        }
        for (Condition condition : filter.conditions()) {
            if (!add(having, condition)) {
                return StatementPage.empty();
            }
        }
        Cursor cursor = Cursor.of("entities", space.number(), filter);
        long[] from = cursor.read(after, 1);
        return filter.orderBy() == null
                ? byNumber(where, having, cursor, from == null ? -1 : from[0], limit)
                : byValue(where, having, filter, cursor, from == null ? 0 : from[0], limit);
    }

    /** Asks that the entity says, visibly, something with a value called k. */
    private void says(Where where, String predicate, boolean holds, String value, @Nullable Object... values)
            throws SQLException {
        var all = new ArrayList<@Nullable Object>(List.of());
        var hidden = new ArrayList<@Nullable Object>();
        String reason = conditions.reason("y", hidden);
        all.addAll(Arrays.asList(values));
        all.addAll(hidden);
        where.and(
                (holds ? "" : "NOT ")
                        + "EXISTS (SELECT 1 FROM kg_statement y JOIN kg_term k ON k.term_no = y.o WHERE y.space = x.space"
                        + " AND y.s = x.s" + predicate + " AND " + value + " AND " + reason + " = 0)",
                all.toArray());
    }

    private boolean add(Where where, Condition condition) throws SQLException {
        List<Long> predicates = terms.findAll(session, condition.predicate());
        if (predicates.isEmpty()) {
            return !condition.holds();
        }
        var alternatives = new ArrayList<String>();
        var values = new ArrayList<@Nullable Object>();
        values.add(sql.list(predicates));
        if (condition.comparison() == Comparison.EXISTS) {
            alternatives.add("1 = 1");
        }
        for (Term value : condition.comparison() == Comparison.EXISTS ? List.<Term>of() : condition.values()) {
            alternative(condition.comparison(), value, alternatives, values);
        }
        if (alternatives.isEmpty()) {
            return !condition.holds();
        }
        says(
                where,
                " AND " + sql.in("y.p", predicates),
                condition.holds(),
                "(" + String.join(" OR ", alternatives) + ")",
                values.toArray());
        return true;
    }

    private void alternative(
            Comparison comparison, Term value, List<String> alternatives, List<@Nullable Object> values)
            throws SQLException {
        Double worth = Terms.worth(value);
        String text = value instanceof Literal literal ? literal.lexical() : ((Resource) value).id();
        switch (comparison) {
            case EQUAL -> {
                Long number = terms.find(session, value);
                if (number != null) {
                    alternatives.add("y.o = ?");
                    values.add(number);
                }
                if (worth != null) {
                    alternatives.add("k.number = ?");
                    values.add(worth);
                }
            }
            case LESS, AT_MOST, MORE, AT_LEAST -> {
                String operator = switch (comparison) {
                    case LESS -> "<";
                    case AT_MOST -> "<=";
                    case MORE -> ">";
                    default -> ">=";
                };
                alternatives.add((worth == null ? "k.lexical " : "k.number ") + operator + " ?");
                values.add(worth == null ? text : worth);
            }
            case CONTAINS -> {
                alternatives.add(sql.contains("k.lexical"));
                values.add(text);
            }
            case EXISTS -> throw new IllegalStateException("has no values");
        }
    }

    private StatementPage<String> byNumber(Where where, Where having, Cursor cursor, long from, int limit)
            throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        values.add(space.number());
        values.addAll(where.values);
        String reason = conditions.reason("x", values);
        if (from >= 0) {
            values.add(from);
        }
        values.addAll(having.values);
        values.add(limit + 1);
        List<Long> numbers = session.list(
                rows -> rows.getLong(1),
                "SELECT x.s FROM kg_statement x WHERE " + where.text + " AND " + reason + " = 0"
                        + (from < 0 ? "" : " AND x.s > ?") + " GROUP BY x.space, x.s HAVING "
                        + having.text + " ORDER BY x.s LIMIT ?",
                values.toArray());
        boolean more = numbers.size() > limit;
        List<Long> kept = more ? numbers.subList(0, limit) : numbers;
        return new StatementPage<>(terms.ids(session, kept), more && limit > 0 ? cursor.write(kept.getLast()) : null);
    }

    /** Page in the order of values. Entities may share a value, so the next page begins at a place, not after a value. */
    private StatementPage<String> byValue(
            Where where, Where having, EntityFilter filter, Cursor cursor, long place, int limit) throws SQLException {
        Long predicate = terms.find(session, requireNonNull(filter.orderBy()));
        var values = new ArrayList<@Nullable Object>();
        var hidden = new ArrayList<@Nullable Object>();
        String hiddenValue = conditions.reason("y", hidden);
        for (int i = 0; i < 2; i++) {
            values.add(predicate == null ? Terms.NONE : predicate);
            values.addAll(hidden);
        }
        values.add(space.number());
        values.addAll(where.values);
        String reason = conditions.reason("x", values);
        values.addAll(having.values);
        values.add(limit + 1);
        values.add(place);
        String from = " FROM kg_statement y JOIN kg_term k ON k.term_no = y.o WHERE y.space = e.space AND y.s = e.s"
                + " AND y.p = ? AND " + hiddenValue + " = 0)";
        String best = filter.descending() ? "max" : "min";
        String direction = filter.descending() ? " DESC" : "";
        List<Long> numbers = session.list(
                rows -> rows.getLong(1),
                "SELECT s FROM (SELECT e.s AS s, (SELECT " + best + "(k.number)" + from + " AS worth, (SELECT "
                        + best + "(k.lexical)" + from
                        + " AS said FROM (SELECT x.space, x.s FROM kg_statement x WHERE " + where.text
                        + " AND " + reason + " = 0 GROUP BY x.space, x.s HAVING " + having.text
                        + ") e) f ORDER BY CASE WHEN said IS NULL THEN 2"
                        + " WHEN worth IS NULL THEN 1 ELSE 0 END, worth" + direction + ", said" + direction
                        + ", s LIMIT ? OFFSET ?",
                values.toArray());
        boolean more = numbers.size() > limit;
        return new StatementPage<>(
                terms.ids(session, more ? numbers.subList(0, limit) : numbers),
                more ? cursor.write(place + limit) : null);
    }
}
