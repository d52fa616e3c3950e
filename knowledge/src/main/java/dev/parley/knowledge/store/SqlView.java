package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.EntityFilter;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.SqlConditions.Where;
import dev.parley.knowledge.store.SqlScan.Order;
import dev.parley.knowledge.store.SqlScan.Row;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A view of the statements in an SQL database. Each method that takes many things asks once for all of them. */
public class SqlView implements GraphView {
    final DatabaseSession session;
    final GroupCache space;
    final Terms terms;
    final Sql sql;
    final SqlFacts facts;
    private final ReadFilter readFilter;
    private final SqlConditions conditions;
    private final SqlScan scan;

    SqlView(DatabaseSession session, GroupCache space, Terms terms, Sql sql, ReadFilter readFilter) {
        this(session, space, terms, sql, readFilter, new SqlFacts(session, space, terms, true));
    }

    SqlView(DatabaseSession session, GroupCache space, Terms terms, Sql sql, ReadFilter readFilter, SqlFacts facts) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.sql = sql;
        this.facts = facts;
        this.readFilter = readFilter;
        this.conditions = new SqlConditions(session, space, terms, sql, readFilter);
        this.scan = new SqlScan(session, space, conditions);
    }

    /** Runs what reads the database, and reports its failure as that of the store. */
    interface Reading<T> {
        T read() throws SQLException;
    }

    static <T> T reading(Reading<T> reading) {
        try {
            return reading.read();
        } catch (SQLException failure) {
            throw StoreException.of("could not read or write statements: " + failure.getMessage(), failure);
        }
    }

    public DatabaseSession session() {
        return session;
    }

    @Override
    public GroupCache space() {
        return space;
    }

    @Override
    public ReadFilter readFilter() {
        return readFilter;
    }

    @Override
    public GraphView seenBy(ReadFilter reader) {
        return reader.equals(readFilter) ? this : new SqlView(session, space, terms, sql, reader, facts);
    }

    @Override
    public <T> T ask(Asking<T> question) {
        return reading(() -> question.ask(session, space));
    }

    @Override
    public long revision() {
        return reading(() -> session.number(
                "SELECT coalesce((SELECT max(change_no) FROM kg_change c WHERE c.space = k.space), forgotten)"
                        + " FROM kg_space k WHERE space = ?",
                space.number()));
    }

    @Override
    public StatementPage<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> {
            var where = new Where("x.space = ?");
            if (!conditions.add(where, "x", pattern, true)) {
                return StatementPage.empty();
            }
            Order order = !pattern.subjects().isEmpty()
                    ? Order.BY_SUBJECT
                    : !pattern.objects().isEmpty()
                            ? Order.BY_OBJECT
                            : !pattern.predicates().isEmpty() ? Order.BY_PREDICATE : Order.BY_SUBJECT;
            Cursor cursor = Cursor.of("statements", space.number(), pattern);
            List<Row> rows = scan.read(where, order, cursor.read(after, 4), limit + 1);
            return page(rows, order, cursor, limit);
        });
    }

    /** Returns the statements of a source in the order of subjects, also those that other sources have repeated since. */
    @Override
    public StatementPage<Fact> saidBy(String source, @Nullable String after, int limit) {
        return reading(() -> {
            Long number = terms.find(session, source);
            if (number == null) {
                return StatementPage.empty();
            }
            Cursor cursor = Cursor.of("saidBy", space.number(), source);
            long[] from = requireNonNullElse(cursor.read(after, 4), new long[] {0, 0, 0, 0});
            String said = "SELECT s, p, o, g, certainty, confirmed_ms, provenance, change_no, source FROM ";
            String by = " WHERE space = ? AND source = ? AND (s, p, o, g) > (?, ?, ?, ?)";
            var rows = new ArrayList<Row>();
            var values = new ArrayList<@Nullable Object>();
            for (int i = 0; i < 2; i++) {
                values.addAll(List.of(space.number(), number, from[0], from[1], from[2], from[3]));
            }
            values.add(limit + 1);
            try (ResultSet found = session.bind(
                            said + "kg_statement" + by + " UNION ALL " + said + "kg_assertion" + by
                                    + " ORDER BY s, p, o, g LIMIT ?",
                            values.toArray())
                    .executeQuery()) {
                while (found.next()) {
                    rows.add(SqlScan.row(found));
                }
            }
            return page(rows, Order.BY_SUBJECT, cursor, limit);
        });
    }

    private StatementPage<Fact> page(List<Row> rows, Order order, Cursor cursor, int limit) throws SQLException {
        List<Fact> items = facts.of(rows.size() > limit ? rows.subList(0, limit) : rows);
        boolean more = rows.size() > items.size() && !items.isEmpty();
        return new StatementPage<>(items, more ? cursor.write(order.key(rows.get(items.size() - 1))) : null);
    }

    @Override
    public Map<String, StatementPage<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> below(terms.findAll(session, subjects), "x.s", Order.BY_SUBJECT, pattern, after, limit));
    }

    @Override
    public Map<String, StatementPage<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> below(terms.findAll(session, objects), "x.o", Order.BY_OBJECT, pattern, after, limit));
    }

    /** The children of many parents: rows in the order of the parents, of which the first few of each are kept. */
    private Map<String, StatementPage<Fact>> below(
            List<Long> parents, String column, Order order, Pattern pattern, @Nullable String after, int limit)
            throws SQLException {
        var where = new Where("x.space = ?");
        if (parents.isEmpty() || !conditions.add(where, "x", pattern, true)) {
            return Map.of();
        }
        where.and(sql.in(column, parents), sql.list(parents));
        // The token has the same pattern for all parents, because the next page of one parent is read alone.
        Cursor cursor = Cursor.of(order, space.number(), pattern);
        long[] behind = cursor.read(after, 4);
        if (behind != null) {
            where.and("(" + order.rest() + ") > (?, ?, ?)", behind[1], behind[2], behind[3]);
        }
        var children = new LinkedHashMap<Long, List<Row>>();
        long[] from = null;
        boolean more = true;
        // One parent is read as far as needed; of many, the first chunk most often has them all.
        int size = parents.size() == 1 ? Math.min(SqlScan.CHUNK, limit + 1) : SqlScan.CHUNK;
        while (more) {
            var seen = new ArrayList<Row>();
            Row last = scan.chunk(where, order, from, size, seen);
            size = SqlScan.CHUNK;
            for (Row row : seen) {
                List<Row> siblings = children.computeIfAbsent(order.key(row)[0], parent -> new ArrayList<>());
                if (siblings.size() <= limit) {
                    siblings.add(row);
                }
            }
            more = last != null;
            if (last != null) {
                from = order.key(last);
                List<Row> siblings = children.get(from[0]);
                if (siblings != null && siblings.size() > limit) {
                    from = new long[] {from[0], Long.MAX_VALUE, 0, 0}; // on to the next parent
                    more = parents.size() > 1;
                }
            }
        }
        return pages(children, order, cursor, limit);
    }

    private Map<String, StatementPage<Fact>> pages(Map<Long, List<Row>> children, Order order, Cursor cursor, int limit)
            throws SQLException {
        var kept = new ArrayList<Row>();
        children.values().forEach(rows -> kept.addAll(rows.subList(0, Math.min(limit, rows.size()))));
        List<Fact> items = facts.of(kept);
        Map<Long, Term> parents = terms.getAll(session, children.keySet());
        var pages = new LinkedHashMap<String, StatementPage<Fact>>();
        int from = 0;
        for (var entry : children.entrySet()) {
            List<Row> rows = entry.getValue();
            int to = Math.min(from + Math.min(limit, rows.size()), items.size());
            String next = null;
            if (rows.size() > to - from && limit > 0) {
                next = to > from
                        ? cursor.write(order.key(rows.get(to - from - 1)))
                        : cursor.write(entry.getKey(), 0, 0, 0);
            }
            String parent = ((Resource) requireNonNull(parents.get(entry.getKey()))).id();
            pages.put(parent, new StatementPage<>(items.subList(from, to), next));
            from = to;
        }
        return pages;
    }

    @Override
    public Map<String, Set<String>> types(Collection<String> ids) {
        Pattern typed = Pattern.predicates(List.of(Term.TYPE));
        var types = new LinkedHashMap<String, Set<String>>();
        about(ids, typed, null, SqlScan.CHUNK).forEach((id, page) -> {
            Set<String> names = types.computeIfAbsent(id, any -> new LinkedHashSet<>());
            addTypes(names, page);
            // Reads all types, however many there are: rules depend on them.
            for (String next = page.next(); next != null; ) {
                StatementPage<Fact> more =
                        about(List.of(id), typed, next, SqlScan.CHUNK).getOrDefault(id, StatementPage.empty());
                addTypes(names, more);
                next = more.next();
            }
        });
        return types;
    }

    private static void addTypes(Set<String> names, StatementPage<Fact> page) {
        for (Fact fact : page.items()) {
            if (fact.statement().object() instanceof Resource type) {
                names.add(type.id());
            }
        }
    }

    @Override
    public StatementPage<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        return reading(() -> new SqlEntities(session, space, terms, sql, conditions).page(filter, after, limit));
    }

    @Override
    public List<GraphInfo> graphs() {
        return reading(() -> catalog().graphs());
    }

    @Override
    public Set<String> predicates(@Nullable String type) {
        return reading(() -> catalog().predicates(type));
    }

    @Override
    public Set<String> classes() {
        return reading(() -> catalog().classes());
    }

    private SqlCatalog catalog() {
        return new SqlCatalog(session, space, terms, sql, readFilter);
    }

    @Override
    public Set<String> sources() {
        return facts.sources();
    }

    @Override
    public Hidden hidden() {
        return scan.hidden();
    }
}
