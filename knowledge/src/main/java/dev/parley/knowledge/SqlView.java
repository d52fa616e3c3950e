package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.knowledge.RecentChanges.Numbered;
import dev.parley.knowledge.spi.EntityFilter;
import dev.parley.knowledge.spi.EntityFilter.Comparison;
import dev.parley.knowledge.spi.EntityFilter.Condition;
import dev.parley.knowledge.spi.Fact;
import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.Page;
import dev.parley.knowledge.spi.Pattern;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Statement;
import dev.parley.protocol.Term;
import dev.parley.protocol.Term.Literal;
import dev.parley.protocol.Term.Resource;
import dev.parley.store.Database.Session;
import dev.parley.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A view of the statements in an SQL database. Each method that takes many things asks once for all of them. */
class SqlView implements View {
    /** Rows that are read before the next look at the limits. */
    private static final int CHUNK = 1_000;

    /** Characters of the longest provenance that is kept in memory. */
    private static final int MAX_CACHED = 4_096;

    /** Characters of statements that are read in one go; a page that would have more ends early. */
    private static final long MAX_CHARACTERS = 16L << 20;

    /** Entities that are looked at to learn which predicates a type has. */
    private static final int SAMPLE = 200;

    /** Classes that a group is listed with. */
    private static final int MAX_CLASSES = 1_000;

    private static final String COLUMNS =
            "x.s, x.p, x.o, x.g, x.certainty, x.confirmed_ms, x.provenance, x.change_no, x.source";

    /** In which order an index has the rows. */
    private enum Order {
        BY_SUBJECT("x.s, x.p, x.o, x.g"),
        BY_OBJECT("x.o, x.p, x.s, x.g"),
        BY_PREDICATE("x.p, x.o, x.s, x.g");

        final String columns;

        Order(String columns) {
            this.columns = columns;
        }

        long[] key(Row row) {
            return switch (this) {
                case BY_SUBJECT -> new long[] {row.s, row.p, row.o, row.g};
                case BY_OBJECT -> new long[] {row.o, row.p, row.s, row.g};
                case BY_PREDICATE -> new long[] {row.p, row.o, row.s, row.g};
            };
        }
    }

    /** What a statement is hidden for, as SQL says it. */
    private static final int SEEN = 0;

    private static final int TOO_UNCERTAIN = 1;
    private static final int TOO_OLD = 2;
    private static final int BY_POLICY = 3;

    record Row(
            long s,
            long p,
            long o,
            long g,
            @Nullable Double certainty,
            long confirmedMs,
            long provenance,
            long change,
            long source) {}

    /** A condition in the making, and the values of its parameters. */
    private static final class Where {
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

    final Session session;
    final Space space;
    final Terms terms;
    final Sql sql;
    private final Floors floors;
    private final Set<String> sources = new LinkedHashSet<>();
    private long hiddenByCertainty;
    private long hiddenByAge;

    SqlView(Session session, Space space, Terms terms, Sql sql, Floors floors) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.sql = sql;
        this.floors = floors;
    }

    /** Runs what reads the database, and reports its failure as that of the store. */
    interface Reading<T> {
        T read() throws SQLException;
    }

    static <T> T reading(Reading<T> reading) {
        try {
            return reading.read();
        } catch (SQLException failure) {
            throw new StoreException("could not read or write statements: " + failure.getMessage(), failure);
        }
    }

    // ---- Conditions

    /** What a statement called {@code x} is hidden for, as one of the numbers above. */
    private String reason(String x, List<@Nullable Object> values) throws SQLException {
        var cases = new StringBuilder();
        if (!floors.rules().isEmpty() || !floors.otherwise()) {
            cases.append(" WHEN CASE");
            for (Floors.Rule rule : floors.rules()) {
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
            cases.append(floors.rules().isEmpty() ? " WHEN 1 = 0 THEN 0" : "")
                    .append(" ELSE ")
                    .append(floors.otherwise() ? 1 : 0)
                    .append(" END = 0 THEN ")
                    .append(BY_POLICY);
        }
        Double floor = floors.certainty();
        if (floor != null && floor > 0) {
            cases.append(" WHEN coalesce(")
                    .append(certainty(x))
                    .append(", -1) < ? THEN ")
                    .append(TOO_UNCERTAIN);
            values.add(floor);
        }
        Instant since = floors.confirmedSince();
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
    private boolean add(Where where, String x, Pattern pattern, boolean asked) throws SQLException {
        return oneOf(where, x + ".s", resources(pattern.subjects()), pattern.subjects())
                && oneOf(where, x + ".p", resources(pattern.predicates()), pattern.predicates())
                && oneOf(where, x + ".o", numbers(pattern.objects()), pattern.objects())
                && oneOf(where, x + ".g", graphs(pattern.graphs()), pattern.graphs())
                && oneOf(where, x + ".source", resources(pattern.sources()), pattern.sources())
                && typed(where, x, pattern.subjectTypes(), asked)
                && certain(where, x, pattern.minCertainty());
    }

    private boolean oneOf(Where where, String column, List<Long> numbers, Collection<?> asked) {
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
        List<Long> numbers = resources(types);
        Long type = terms.find(session, Resource.of(Term.TYPE));
        if (numbers.isEmpty() || type == null) {
            return false;
        }
        String t = "t_" + x;
        var values = new ArrayList<@Nullable Object>(List.of(type, sql.list(numbers)));
        // Rules go by what is so; whoever asks, by what they see of it.
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

    private List<Long> resources(Collection<String> ids) throws SQLException {
        var numbers = new ArrayList<Long>(ids.size());
        for (String id : ids) {
            Long number = find(id);
            if (number != null) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    private List<Long> graphs(Collection<String> names) throws SQLException {
        var numbers = new ArrayList<Long>(names.size());
        for (String name : names) {
            Long number = graph(name.equals(Pattern.DEFAULT_GRAPH) ? null : name);
            if (number != null) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    private @Nullable Long graph(@Nullable String name) throws SQLException {
        return name == null ? Long.valueOf(Terms.NONE) : find(name);
    }

    /** Returns the number of a resource; null if there is none, or can be none. */
    private @Nullable Long find(String id) throws SQLException {
        return id.isEmpty() || id.length() > Term.MAX_NAME ? null : terms.find(session, Resource.of(id));
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

    // ---- Rows

    /**
     * Reads rows that are seen, from behind {@code after} on, and counts the others.
     *
     * @return {@code limit} or more if there are so many
     */
    private List<Row> rows(Where where, Order order, long @Nullable [] after, int limit) throws SQLException {
        var seen = new ArrayList<Row>();
        long[] from = after;
        boolean more = true;
        int size = Math.min(CHUNK, limit);
        while (more && seen.size() < limit) {
            Row last = chunk(where, order, from, size, seen);
            size = CHUNK; // much is hidden: in steps as small as the page it would take for ever
            more = last != null;
            from = last == null ? from : order.key(last);
        }
        return seen;
    }

    /** Reads {@code size} rows, and returns the last one that was read, seen or not; null if there are no more behind. */
    private @Nullable Row chunk(Where where, Order order, long @Nullable [] after, int size, List<Row> seen)
            throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        String reason = reason("x", values);
        values.add(space.number());
        values.addAll(where.values);
        String behind = "";
        if (after != null) {
            behind = " AND (" + order.columns + ") > (?, ?, ?, ?)";
            for (long part : after) {
                values.add(part);
            }
        }
        values.add(size);
        PreparedStatement select = session.bind(
                "SELECT " + COLUMNS + ", " + reason + " FROM kg_statement x WHERE " + where.text + behind + " ORDER BY "
                        + order.columns + " LIMIT ?",
                values.toArray());
        Row last = null;
        int read = 0;
        try (ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
                read++;
                last = row(rows);
                if (count(rows.getInt(10))) {
                    seen.add(last);
                }
            }
        }
        return read < size ? null : last;
    }

    static Row row(ResultSet rows) throws SQLException {
        double number = rows.getDouble(5);
        Double certainty = rows.wasNull() ? null : (Double) number;
        return new Row(
                rows.getLong(1),
                rows.getLong(2),
                rows.getLong(3),
                rows.getLong(4),
                certainty,
                rows.getLong(6),
                rows.getLong(7),
                rows.getLong(8),
                rows.getLong(9));
    }

    /** Counts what is hidden; true if it is not. What policy hides is not even counted, lest the count tell of it. */
    private boolean count(int reason) {
        hiddenByCertainty += reason == TOO_UNCERTAIN ? 1 : 0;
        hiddenByAge += reason == TOO_OLD ? 1 : 0;
        return reason == SEEN;
    }

    /**
     * Returns what rows stand for, with one look at the terms for all of them: of the first few, at least one, if they are
     * so long that memory would suffer.
     */
    final List<Fact> facts(List<Row> rows) throws SQLException {
        var facts = new ArrayList<Fact>(rows.size());
        var provenances = new HashMap<Long, Map<String, @Nullable Object>>();
        long characters = 0;
        int size = rows.size();
        while (facts.size() < rows.size() && characters <= MAX_CHARACTERS) {
            List<Row> some = rows.subList(facts.size(), Math.min(rows.size(), facts.size() + size));
            Map<Long, Term> known;
            try {
                known = terms.getAll(session, numbers(some));
            } catch (Terms.TooLong tooLong) {
                size = (some.size() + 1) / 2;
                continue;
            }
            for (Row row : some) {
                if (characters <= MAX_CHARACTERS) {
                    Map<String, @Nullable Object> provenance = provenances.get(row.provenance);
                    if (provenance == null) {
                        provenance = provenance(row.provenance);
                        provenances.put(row.provenance, provenance);
                    }
                    Fact fact = fact(row, known, provenance);
                    String graph = fact.statement().graph();
                    sources.add(graph == null ? Pattern.DEFAULT_GRAPH : graph);
                    facts.add(fact);
                    characters += Characters.of(fact.statement());
                }
            }
        }
        return facts;
    }

    private static Set<Long> numbers(List<Row> rows) {
        var numbers = new HashSet<Long>();
        for (Row row : rows) {
            numbers.add(row.s);
            numbers.add(row.p);
            numbers.add(row.o);
            if (row.g != Terms.NONE) {
                numbers.add(row.g);
            }
        }
        return numbers;
    }

    private Fact fact(Row row, Map<Long, Term> known, Map<String, @Nullable Object> said) {
        var provenance = new LinkedHashMap<>(said);
        Instant confirmed = Instant.ofEpochMilli(row.confirmedMs);
        if (row.change != 0) {
            provenance.put("changeId", space.changeId(row.change));
        }
        provenance.put("recordedAt", confirmed.toString());
        return new Fact(
                new Statement(
                        (Resource) requireNonNull(known.get(row.s)),
                        ((Resource) requireNonNull(known.get(row.p))).id(),
                        requireNonNull(known.get(row.o)),
                        row.g == Terms.NONE ? null : ((Resource) requireNonNull(known.get(row.g))).id(),
                        row.certainty,
                        provenance),
                confirmed);
    }

    final Map<String, @Nullable Object> provenance(long number) throws SQLException {
        if (number == Terms.NONE) {
            return Map.of();
        }
        Map<String, @Nullable Object> known = isCommitted() ? space.provenance().getIfPresent(number) : null;
        if (known == null) {
            try (ResultSet row = session.bind("SELECT json FROM kg_provenance WHERE provenance = ?", number)
                    .executeQuery()) {
                known = row.next() ? json(row.getString(1)) : Map.of();
            }
            if (isCommitted() && known.toString().length() <= MAX_CACHED) {
                space.provenance().put(number, known);
            }
        }
        return known;
    }

    /** Whether what is read here cannot be taken back any more, nor is erased by now. */
    boolean isCommitted() {
        return true;
    }

    @SuppressWarnings("unchecked") // the members of a JSON object have names
    static Map<String, @Nullable Object> json(String text) {
        return Json.read(text.getBytes(StandardCharsets.UTF_8), Map.class);
    }

    /** What the reader sees of a change; null if nothing. */
    final @Nullable Numbered seen(Numbered change) {
        Instant since = floors.confirmedSince();
        boolean isYoung = since == null || !change.change().timestamp().isBefore(since);
        return isYoung
                ? change.seenBy(statement ->
                        isSeen(statement, change.types(id -> types(List.of(id)).getOrDefault(id, Set.of()))))
                : null;
    }

    private boolean isSeen(Statement statement, Function<String, Set<String>> types) {
        Double floor = floors.certainty();
        Double certainty = statement.certainty();
        return (floor == null || floor <= 0 || certainty != null && certainty >= floor)
                && floors.sees(statement, types);
    }

    // ---- The view

    @Override
    public long revision() {
        return reading(() -> sql.number(
                session,
                "SELECT coalesce((SELECT max(change_no) FROM kg_change c WHERE c.space = k.space), forgotten)"
                        + " FROM kg_space k WHERE space = ?",
                space.number()));
    }

    @Override
    public Page<Fact> statements(Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> {
            var where = new Where("x.space = ?");
            if (!add(where, "x", pattern, true)) {
                return Page.empty();
            }
            Order order = !pattern.subjects().isEmpty()
                    ? Order.BY_SUBJECT
                    : !pattern.objects().isEmpty()
                            ? Order.BY_OBJECT
                            : !pattern.predicates().isEmpty() ? Order.BY_PREDICATE : Order.BY_SUBJECT;
            List<Row> rows = rows(where, order, Cursor.read(after, 4), limit + 1);
            return page(rows, order, limit);
        });
    }

    /** What a source says, be it that others have said the same since; the order is that of subjects. */
    Page<Fact> saidBy(String source, @Nullable String after, int limit) {
        return reading(() -> {
            Long number = find(source);
            if (number == null) {
                return Page.empty();
            }
            long[] cursor = requireNonNullElse(Cursor.read(after, 4), new long[] {0, 0, 0, 0});
            String said = "SELECT s, p, o, g, certainty, confirmed_ms, provenance, change_no, source FROM ";
            String by = " WHERE space = ? AND source = ? AND (s, p, o, g) > (?, ?, ?, ?)";
            var rows = new ArrayList<Row>();
            var values = new ArrayList<@Nullable Object>();
            for (int i = 0; i < 2; i++) {
                values.addAll(List.of(space.number(), number, cursor[0], cursor[1], cursor[2], cursor[3]));
            }
            values.add(limit + 1);
            try (ResultSet found = session.bind(
                            said + "kg_statement" + by + " UNION ALL " + said + "kg_assertion" + by
                                    + " ORDER BY s, p, o, g LIMIT ?",
                            values.toArray())
                    .executeQuery()) {
                while (found.next()) {
                    rows.add(row(found));
                }
            }
            return page(rows, Order.BY_SUBJECT, limit);
        });
    }

    private Page<Fact> page(List<Row> rows, Order order, int limit) throws SQLException {
        List<Fact> facts = facts(rows.size() > limit ? rows.subList(0, limit) : rows);
        boolean more = rows.size() > facts.size() && !facts.isEmpty();
        return new Page<>(facts, more ? Cursor.write(order.key(rows.get(facts.size() - 1))) : null);
    }

    @Override
    public Map<String, Page<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> below(resources(subjects), "x.s", Order.BY_SUBJECT, pattern, after, limit));
    }

    @Override
    public Map<String, Page<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit) {
        return reading(() -> below(resources(objects), "x.o", Order.BY_OBJECT, pattern, after, limit));
    }

    /** The children of many parents: rows in the order of the parents, of which the first few of each are kept. */
    private Map<String, Page<Fact>> below(
            List<Long> parents, String column, Order order, Pattern pattern, @Nullable String after, int limit)
            throws SQLException {
        var where = new Where("x.space = ?");
        if (parents.isEmpty() || !add(where, "x", pattern, true)) {
            return Map.of();
        }
        where.and(sql.in(column, parents), sql.list(parents));
        long[] cursor = Cursor.read(after, 4);
        if (cursor != null) {
            String rest = order.columns.substring(order.columns.indexOf(',') + 2);
            where.and("(" + rest + ") > (?, ?, ?)", cursor[1], cursor[2], cursor[3]);
        }
        var children = new LinkedHashMap<Long, List<Row>>();
        long[] from = null;
        boolean more = true;
        // One parent is read as far as needed; of many, the first chunk most often has them all.
        int size = parents.size() == 1 ? Math.min(CHUNK, limit + 1) : CHUNK;
        while (more) {
            var seen = new ArrayList<Row>();
            Row last = chunk(where, order, from, size, seen);
            size = CHUNK;
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
        return pages(children, order, limit);
    }

    private Map<String, Page<Fact>> pages(Map<Long, List<Row>> children, Order order, int limit) throws SQLException {
        var kept = new ArrayList<Row>();
        children.values().forEach(rows -> kept.addAll(rows.subList(0, Math.min(limit, rows.size()))));
        List<Fact> facts = facts(kept);
        Map<Long, Term> parents = terms.getAll(session, children.keySet());
        var pages = new LinkedHashMap<String, Page<Fact>>();
        int from = 0;
        for (var entry : children.entrySet()) {
            List<Row> rows = entry.getValue();
            int to = Math.min(from + Math.min(limit, rows.size()), facts.size());
            String next = null;
            if (rows.size() > to - from && limit > 0) {
                next = to > from
                        ? Cursor.write(order.key(rows.get(to - from - 1)))
                        : Cursor.write(entry.getKey(), 0, 0, 0);
            }
            String parent = ((Resource) requireNonNull(parents.get(entry.getKey()))).id();
            pages.put(parent, new Page<>(facts.subList(from, to), next));
            from = to;
        }
        return pages;
    }

    @Override
    public Map<String, Set<String>> types(Collection<String> ids) {
        var types = new LinkedHashMap<String, Set<String>>();
        about(ids, Pattern.predicates(List.of(Term.TYPE)), null, CHUNK).forEach((id, page) -> {
            var names = new LinkedHashSet<String>();
            for (Fact fact : page.items()) {
                if (fact.statement().object() instanceof Resource type) {
                    names.add(type.id());
                }
            }
            types.put(id, names);
        });
        return types;
    }

    @Override
    public Page<String> entities(EntityFilter filter, @Nullable String after, int limit) {
        return reading(() -> {
            var where = new Where("x.space = ?");
            Long type = terms.find(session, Resource.of(Term.TYPE));
            if (!filter.types().isEmpty()
                    && (type == null || !oneOf(where, "x.o", resources(filter.types()), filter.types()))) {
                return Page.empty();
            }
            if (!filter.types().isEmpty()) {
                where.and("x.p = ?", type);
            }
            if (filter.text() != null) {
                says(
                        where,
                        "",
                        true,
                        "k.datatype <> 0 AND " + sql.contains("k.lexical"),
                        Sql.containing(filter.text()));
            }
            for (Condition condition : filter.conditions()) {
                if (!add(where, condition)) {
                    return Page.empty();
                }
            }
            return filter.orderBy() == null
                    ? byNumber(where, after, limit)
                    : byValue(where, filter.orderBy(), filter.descending(), after, limit);
        });
    }

    /** Asks that the entity says, visibly, something with a value called k. */
    private void says(Where where, String predicate, boolean holds, String value, @Nullable Object... values)
            throws SQLException {
        var all = new ArrayList<@Nullable Object>(List.of());
        var hidden = new ArrayList<@Nullable Object>();
        String reason = reason("y", hidden);
        all.addAll(Arrays.asList(values));
        all.addAll(hidden);
        where.and(
                (holds ? "" : "NOT ")
                        + "EXISTS (SELECT 1 FROM kg_statement y JOIN kg_term k ON k.term_no = y.o WHERE y.space = x.space"
                        + " AND y.s = x.s" + predicate + " AND " + value + " AND " + reason + " = 0)",
                all.toArray());
    }

    private boolean add(Where where, Condition condition) throws SQLException {
        List<Long> predicates = resources(condition.predicate());
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
                values.add(Sql.containing(text));
            }
            case EXISTS -> throw new IllegalStateException("has no values");
        }
    }

    private Page<String> byNumber(Where where, @Nullable String after, int limit) throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        values.add(space.number());
        values.addAll(where.values);
        String reason = reason("x", values);
        long[] cursor = Cursor.read(after, 1);
        if (cursor != null) {
            values.add(cursor[0]);
        }
        values.add(limit + 1);
        var numbers = new ArrayList<Long>();
        try (ResultSet rows = session.bind(
                        "SELECT DISTINCT x.s FROM kg_statement x WHERE " + where.text + " AND " + reason + " = 0"
                                + (cursor == null ? "" : " AND x.s > ?") + " ORDER BY x.s LIMIT ?",
                        values.toArray())
                .executeQuery()) {
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
        }
        boolean more = numbers.size() > limit;
        List<Long> kept = more ? numbers.subList(0, limit) : numbers;
        return new Page<>(ids(kept), more && limit > 0 ? Cursor.write(kept.getLast()) : null);
    }

    /** Values are no key to go on from, since many may share one: such pages go on by their place. */
    private Page<String> byValue(Where where, String orderBy, boolean descending, @Nullable String after, int limit)
            throws SQLException {
        long place = after == null ? 0 : requireNonNull(Cursor.read(after, 1))[0];
        Long predicate = find(orderBy);
        var values = new ArrayList<@Nullable Object>();
        var hidden = new ArrayList<@Nullable Object>();
        String hiddenValue = reason("y", hidden);
        for (int i = 0; i < 2; i++) {
            values.add(predicate == null ? Terms.NONE : predicate);
            values.addAll(hidden);
        }
        values.add(space.number());
        values.addAll(where.values);
        String reason = reason("x", values);
        values.add(limit + 1);
        values.add(place);
        String from = " FROM kg_statement y JOIN kg_term k ON k.term_no = y.o WHERE y.space = e.space AND y.s = e.s"
                + " AND y.p = ? AND " + hiddenValue + " = 0)";
        String best = descending ? "max" : "min";
        String direction = descending ? " DESC" : "";
        var numbers = new ArrayList<Long>();
        try (ResultSet rows = session.bind(
                        "SELECT s FROM (SELECT e.s AS s, (SELECT " + best + "(k.number)" + from + " AS worth, (SELECT "
                                + best + "(k.lexical)" + from
                                + " AS said FROM (SELECT DISTINCT x.space, x.s FROM kg_statement x WHERE " + where.text
                                + " AND " + reason + " = 0) e) f ORDER BY CASE WHEN said IS NULL THEN 2"
                                + " WHEN worth IS NULL THEN 1 ELSE 0 END, worth" + direction + ", said" + direction
                                + ", s LIMIT ? OFFSET ?",
                        values.toArray())
                .executeQuery()) {
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
        }
        boolean more = numbers.size() > limit;
        return new Page<>(ids(more ? numbers.subList(0, limit) : numbers), more ? Cursor.write(place + limit) : null);
    }

    private List<String> ids(List<Long> numbers) throws SQLException {
        Map<Long, Term> known = terms.getAll(session, numbers);
        var ids = new ArrayList<String>(numbers.size());
        for (Long number : numbers) {
            ids.add(((Resource) requireNonNull(known.get(number))).id());
        }
        return ids;
    }

    @Override
    public List<GraphInfo> graphs() {
        return reading(() -> {
            var sizes = new LinkedHashMap<Long, Long>();
            try (ResultSet rows = session.bind(
                            "SELECT g, sum(statements) FROM kg_tally WHERE space = ? GROUP BY g ORDER BY g",
                            space.number())
                    .executeQuery()) {
                while (rows.next()) {
                    sizes.put(rows.getLong(1), rows.getLong(2));
                }
            }
            var graphs = new ArrayList<GraphInfo>();
            for (var entry : sizes.entrySet()) {
                String name =
                        entry.getKey() == Terms.NONE ? null : ((Resource) terms.get(session, entry.getKey())).id();
                long shown = entry.getValue() > 0 && hasRules() ? seenIn(entry.getKey()) : entry.getValue();
                if (shown > 0) {
                    graphs.add(new GraphInfo(name, shown));
                }
            }
            return graphs;
        });
    }

    private boolean hasRules() {
        return !floors.rules().isEmpty() || !floors.otherwise();
    }

    /** How many statements of a graph the rules let the reader see; its certainty and age floors are not asked. */
    private long seenIn(long graph) throws SQLException {
        var values = new ArrayList<@Nullable Object>(List.of(space.number(), graph));
        String seen = policy("x", values);
        return sql.number(
                session,
                "SELECT count(*) FROM kg_statement x WHERE x.space = ? AND x.g = ? AND " + seen + " = 0",
                values.toArray());
    }

    private boolean isSeenClass(long type, long of) throws SQLException {
        var values = new ArrayList<@Nullable Object>(List.of(space.number(), type, of));
        String seen = policy("x", values);
        return sql.number(
                        session,
                        "SELECT count(*) FROM (SELECT 1 FROM kg_statement x WHERE x.space = ? AND x.p = ? AND x.o = ?"
                                + " AND " + seen + " = 0 LIMIT 1) AS one",
                        values.toArray())
                > 0;
    }

    /** {@link #reason} by the rules alone. */
    private String policy(String x, List<@Nullable Object> values) throws SQLException {
        return new SqlView(session, space, terms, sql, new Floors(null, null, floors.rules(), floors.otherwise()))
                .reason(x, values);
    }

    @Override
    public Set<String> predicates(@Nullable String type) {
        return reading(() -> {
            var values = new ArrayList<@Nullable Object>();
            String select;
            if (type == null) {
                select = "SELECT DISTINCT p FROM kg_tally WHERE space = ? AND statements > 0";
                values.add(space.number());
            } else {
                List<Long> sample =
                        resources(entities(new EntityFilter(List.of(type), null, List.of(), null, false), null, SAMPLE)
                                .items());
                if (sample.isEmpty()) {
                    return Set.<String>of();
                }
                String reason = reason("x", values);
                select = "SELECT DISTINCT x.p FROM kg_statement x WHERE " + reason + " = 0 AND x.space = ? AND "
                        + sql.in("x.s", sample);
                values.add(space.number());
                values.add(sql.list(sample));
            }
            var numbers = new ArrayList<Long>();
            try (ResultSet rows = session.bind(select, values.toArray()).executeQuery()) {
                while (rows.next()) {
                    numbers.add(rows.getLong(1));
                }
            }
            return new LinkedHashSet<>(ids(numbers));
        });
    }

    @Override
    public Set<String> classes() {
        return reading(() -> {
            Long type = terms.find(session, Resource.of(Term.TYPE));
            var numbers = new ArrayList<Long>();
            long last = -1;
            // One step for each class instead of one row for each entity.
            while (type != null && last != 0 && numbers.size() < MAX_CLASSES) {
                last = sql.number(
                        session,
                        "SELECT min(o) FROM kg_statement WHERE space = ? AND p = ? AND o > ?",
                        space.number(),
                        type,
                        last);
                if (last != 0 && (!hasRules() || isSeenClass(type, last))) {
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
        });
    }

    @Override
    public Set<String> sources() {
        return sources;
    }

    @Override
    public Hidden hidden() {
        return new Hidden(hiddenByCertainty, hiddenByAge, 0);
    }

    /** Where a page goes on: numbers, as text that says nothing to others. */
    private static final class Cursor {
        private static final int RADIX = 36;

        static String write(long... parts) {
            var text = new StringBuilder();
            for (long part : parts) {
                text.append(text.isEmpty() ? "" : ".").append(Long.toString(part, RADIX));
            }
            return text.toString();
        }

        static long @Nullable [] read(@Nullable String text, int parts) {
            if (text == null) {
                return null;
            }
            String[] numbers = text.split("\\.", -1);
            var read = new long[numbers.length];
            try {
                for (int i = 0; i < read.length; i++) {
                    read[i] = Long.parseLong(numbers[i], RADIX);
                    if (read[i] < 0) {
                        throw new NumberFormatException("negative");
                    }
                }
            } catch (NumberFormatException notOurs) {
                throw InvalidField.of("after", text + " (expected: the cursor of a page)");
            }
            if (read.length != parts) {
                throw InvalidField.of("after", text + " (expected: the cursor of a page)");
            }
            return read;
        }
    }
}
