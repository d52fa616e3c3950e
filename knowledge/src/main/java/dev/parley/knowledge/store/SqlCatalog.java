package dev.parley.knowledge.store;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.model.View.GraphInfo;
import dev.parley.store.database.DatabaseSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lists the graphs, predicates and classes of a group that are visible to the reader. */
final class SqlCatalog {
    /** Entities that are looked at to learn which predicates a type has. */
    private static final int SAMPLE = 200;

    /** Classes that a group is listed with. */
    private static final int MAX_CLASSES = 1_000;

    private final DatabaseSession session;
    private final GroupCache space;
    private final Terms terms;
    private final Sql sql;
    private final ReadFilter readFilter;
    private final SqlConditions conditions;

    /** Conditions of the rules only, without the reader's minimums of certainty and time. */
    private final SqlConditions policy;

    SqlCatalog(DatabaseSession session, GroupCache space, Terms terms, Sql sql, ReadFilter readFilter) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.sql = sql;
        this.readFilter = readFilter;
        this.conditions = new SqlConditions(session, space, terms, sql, readFilter);
        this.policy = new SqlConditions(
                session, space, terms, sql, new ReadFilter(null, null, readFilter.rules(), readFilter.otherwise()));
    }

    /** As {@link View#graphs}. */
    List<GraphInfo> graphs() throws SQLException {
        var sizes = new LinkedHashMap<Long, Long>();
        try (ResultSet rows = session.bind(
                        "SELECT g, sum(statements) FROM kg_tally WHERE space = ? GROUP BY g ORDER BY g", space.number())
                .executeQuery()) {
            while (rows.next()) {
                sizes.put(rows.getLong(1), rows.getLong(2));
            }
        }
        var graphs = new ArrayList<GraphInfo>();
        for (var entry : sizes.entrySet()) {
            String name = entry.getKey() == Terms.NONE ? null : ((Resource) terms.get(session, entry.getKey())).id();
            long shown = entry.getValue() > 0 && hasRules() ? seenIn(entry.getKey()) : entry.getValue();
            if (shown > 0) {
                graphs.add(new GraphInfo(name, shown));
            }
        }
        return graphs;
    }

    /** Number of statements of a graph that the rules let the reader see, without its limits of certainty and age. */
    private long seenIn(long graph) throws SQLException {
        var values = new ArrayList<@Nullable Object>(List.of(space.number(), graph));
        String seen = policy.reason("x", values);
        return session.number(
                "SELECT count(*) FROM kg_statement x WHERE x.space = ? AND x.g = ? AND " + seen + " = 0",
                values.toArray());
    }

    /** As {@link View#predicates}. */
    Set<String> predicates(@Nullable String type) throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        String select;
        if (type == null) {
            select = "SELECT DISTINCT p FROM kg_tally WHERE space = ? AND statements > 0";
            values.add(space.number());
        } else {
            var ofType = new EntityFilter(List.of(type), null, List.of(), null, false);
            var entities = new SqlEntities(session, space, terms, sql, conditions);
            List<Long> sample =
                    terms.findAll(session, entities.page(ofType, null, SAMPLE).items());
            if (sample.isEmpty()) {
                return Set.of();
            }
            String reason = conditions.reason("x", values);
            select = "SELECT DISTINCT x.p FROM kg_statement x WHERE " + reason + " = 0 AND x.space = ? AND "
                    + sql.in("x.s", sample);
            values.add(space.number());
            values.add(sql.list(sample));
        }
        List<Long> numbers = session.list(rows -> rows.getLong(1), select, values.toArray());
        if (type == null && hasRules()) {
            for (Long number : List.copyOf(numbers)) {
                if (!isSeen("x.p = ?", number)) {
                    numbers.remove(number);
                }
            }
        }
        return new LinkedHashSet<>(terms.ids(session, numbers));
    }

    /** As {@link View#classes}. */
    Set<String> classes() throws SQLException {
        Long type = terms.find(session, Resource.of(Term.TYPE));
        var numbers = new ArrayList<Long>();
        long last = -1;
        // One step for each class instead of one row for each entity.
        while (type != null && last != 0 && numbers.size() < MAX_CLASSES) {
            last = session.number(
                    "SELECT min(o) FROM kg_statement WHERE space = ? AND p = ? AND o > ?", space.number(), type, last);
            if (last != 0 && (!hasRules() || isSeen("x.p = ? AND x.o = ?", type, last))) {
                numbers.add(last);
            }
        }
        var classes = new LinkedHashSet<String>();
        for (Term term : terms.getAll(session, numbers).values()) {
            if (term instanceof Resource named) {
                classes.add(named.id());
            }
        }
        return classes;
    }

    /** True if the rules let the reader see a statement that is so. */
    private boolean isSeen(String so, Long... numbers) throws SQLException {
        var values = new ArrayList<@Nullable Object>(List.of(space.number()));
        values.addAll(List.of(numbers));
        String seen = policy.reason("x", values);
        return session.number(
                        "SELECT count(*) FROM (SELECT 1 FROM kg_statement x WHERE x.space = ? AND " + so + " AND "
                                + seen + " = 0 LIMIT 1) AS one",
                        values.toArray())
                > 0;
    }

    private boolean hasRules() {
        return !readFilter.rules().isEmpty() || !readFilter.otherwise();
    }
}
