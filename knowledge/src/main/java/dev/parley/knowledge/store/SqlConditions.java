package dev.parley.knowledge.store;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts patterns, and the read filter, to conditions in SQL. */
final class SqlConditions {
    /** Reasons for which a statement is hidden, as numbers in SQL. */
    static final int SEEN = 0;

    static final int TOO_UNCERTAIN = 1;
    static final int TOO_OLD = 2;
    static final int BY_POLICY = 3;

    /** A condition in the making, and the values of its parameters. */
    static final class Where {
        final StringBuilder text;
        final List<@Nullable Object> values = new ArrayList<>();

        Where(String first) {
            this.text = new StringBuilder(first);
        }

        void and(String condition, @Nullable Object... more) {
            text.append(" AND ").append(condition);
            values.addAll(Arrays.asList(more));
        }
    }

    private final DatabaseSession session;
    private final GroupCache space;
    private final Terms terms;
    private final Sql sql;
    private final ReadFilter readFilter;

    SqlConditions(DatabaseSession session, GroupCache space, Terms terms, Sql sql, ReadFilter readFilter) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.sql = sql;
        this.readFilter = readFilter;
    }

    /** An expression for what a statement called {@code x} is hidden for: one of the numbers above. */
    String reason(String x, List<@Nullable Object> values) throws SQLException {
        var cases = new StringBuilder();
        if (!readFilter.rules().isEmpty() || !readFilter.otherwise()) {
            cases.append(" WHEN CASE");
            for (ReadFilter.Rule rule : readFilter.rules()) {
                Where match = new Where("1 = 1");
                boolean possible = add(match, x, rule.pattern(), false);
                if (rule.certaintyBelow() != null) {
                    match.and("coalesce(" + certainty(x) + ", 0) < ?", rule.certaintyBelow());
                }
                cases.append(" WHEN ")
                        .append(possible ? match.text.toString() : "1 = 0")
                        .append(" THEN ")
                        .append(rule.seen() ? 1 : 0);
                if (possible) {
                    values.addAll(match.values);
                }
            }
            cases.append(readFilter.rules().isEmpty() ? " WHEN 1 = 0 THEN 0" : "")
                    .append(" ELSE ")
                    .append(readFilter.otherwise() ? 1 : 0)
                    .append(" END = 0 THEN ")
                    .append(BY_POLICY);
        }
        Double least = readFilter.certainty();
        if (least != null && least > 0) {
            cases.append(" WHEN coalesce(")
                    .append(certainty(x))
                    .append(", -1) < ? THEN ")
                    .append(TOO_UNCERTAIN);
            values.add(least);
        }
        Instant since = readFilter.confirmedSince();
        if (since != null) {
            cases.append(" WHEN ").append(x).append(".confirmed_ms < ? THEN ").append(TOO_OLD);
            values.add(since.toEpochMilli());
        }
        return cases.isEmpty() ? "0" : "CASE" + cases + " ELSE 0 END";
    }

    /** The certainty of a statement, or what its graph says for those without. */
    private String certainty(String x) {
        String own = x + ".certainty";
        Map<Long, Double> defaults = space.defaultCertainty();
        if (defaults.isEmpty()) {
            return own;
        }
        var text = new StringBuilder("coalesce(" + own + ", CASE " + x + ".g");
        // Both are numbers of ours, and there are as many forms as there are settings.
        defaults.forEach((graph, value) ->
                text.append(" WHEN ").append(graph).append(" THEN ").append(value));
        return text.append(" END)").toString();
    }

    /** Adds what {@code pattern} asks of {@code x}; false if nothing can be so, because its terms are unknown. */
    boolean add(Where where, String x, Pattern pattern, boolean asked) throws SQLException {
        return oneOf(where, x + ".s", terms.findAll(session, pattern.subjects()), pattern.subjects())
                && oneOf(where, x + ".p", terms.findAll(session, pattern.predicates()), pattern.predicates())
                && oneOf(where, x + ".o", numbers(pattern.objects()), pattern.objects())
                && oneOf(where, x + ".g", graphs(pattern.graphs()), pattern.graphs())
                && oneOf(where, x + ".source", terms.findAll(session, pattern.sources()), pattern.sources())
                && typed(where, x, pattern.subjectTypes(), asked)
                && certain(where, x, pattern.minCertainty());
    }

    /** Adds the condition that a column has one of the numbers of {@code asked}; false if none of them is known. */
    boolean oneOf(Where where, String column, List<Long> numbers, Collection<?> asked) {
        if (asked.isEmpty()) {
            return true;
        }
        if (numbers.isEmpty()) {
            return false;
        }
        where.and(sql.in(column, numbers), sql.list(numbers));
        return true;
    }

    private boolean typed(Where where, String x, List<String> types, boolean asked) throws SQLException {
        if (types.isEmpty()) {
            return true;
        }
        List<Long> numbers = terms.findAll(session, types);
        Long type = terms.find(session, Resource.of(Term.TYPE));
        if (numbers.isEmpty() || type == null) {
            return false;
        }
        String t = "t_" + x;
        var values = new ArrayList<@Nullable Object>(List.of(type, sql.list(numbers)));
        // Rules match all types; filters of the caller match only types that it may see.
        String seen = asked ? " AND " + reason(t, values) + " = 0" : "";
        where.and(
                "EXISTS (SELECT 1 FROM kg_statement " + t + " WHERE " + t + ".space = " + x + ".space AND " + t
                        + ".s = " + x + ".s AND " + t + ".p = ? AND " + sql.in(t + ".o", numbers) + seen + ")",
                values.toArray());
        return true;
    }

    private boolean certain(Where where, String x, @Nullable Double least) {
        if (least != null && least > 0) {
            where.and("coalesce(" + certainty(x) + ", -1) >= ?", least);
        }
        return true;
    }

    private List<Long> graphs(Collection<String> names) throws SQLException {
        var numbers = new ArrayList<Long>(names.size());
        for (String name : names) {
            Long number = name.equals(Pattern.DEFAULT_GRAPH) ? Long.valueOf(Terms.NONE) : terms.find(session, name);
            if (number != null) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    private List<Long> numbers(Collection<? extends Term> wanted) throws SQLException {
        var numbers = new ArrayList<Long>(wanted.size());
        for (Term term : wanted) {
            Long number = terms.find(session, term);
            if (number != null) {
                numbers.add(number);
            }
        }
        return numbers;
    }
}
