package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Floors;
import dev.parley.knowledge.store.SqlScan.Row;
import dev.parley.store.database.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The statements of a group in the hands of the writer thread. */
public final class SqlWriting extends SqlView implements GraphWriting {
    private static final String KEY = " WHERE space = ? AND s = ? AND p = ? AND o = ? AND g = ?";

    /** Receives the number of new statements of a predicate in a graph. */
    interface TallySink {
        void add(long graph, long predicate, long more);
    }

    /** The numbers that say the same as a statement. */
    public record Key(long s, long p, long o, long g) {}

    private record Held(
            @Nullable Double certainty, long confirmedMs, long provenance, long source, long change, int hint) {}

    private record Place(long graph, long predicate) {}

    private final long nowMs;
    private final Map<Place, Long> tally = new HashMap<>();
    private final Map<Map<String, @Nullable Object>, Long> known = new HashMap<>();
    private long change;
    private final Map<Statement, Boolean> changed = new LinkedHashMap<>();
    private boolean loaded;

    SqlWriting(Session session, Space space, Terms terms, Sql sql, long nowMs) {
        super(session, space, terms, sql, Floors.NONE, new SqlFacts(session, space, terms, false));
        this.nowMs = nowMs;
    }

    @Override
    public void record(Recording recording) throws SQLException {
        recording.write(this);
    }

    @Override
    public void change(long number) {
        this.change = number;
    }

    @Override
    public Map<Statement, Boolean> changed() {
        return changed;
    }

    /** True if statements were written that {@link #changed} does not list. */
    boolean isLoaded() {
        return loaded;
    }

    private void changed(Resource subject, String predicate, Term object, @Nullable String graph, boolean held) {
        changed.put(new Statement(subject, predicate, object, graph, null, Map.of()), held);
    }

    private void changed(Statement statement, boolean held) {
        changed(statement.subject(), statement.predicate(), statement.object(), statement.graph(), held);
    }

    /** How many statements are new. */
    int rows() {
        return 1
                + tally.values().stream()
                        .mapToInt(more -> Math.max(0, more.intValue()))
                        .sum();
    }

    @Override
    public long nowMs() {
        return nowMs;
    }

    void tally(TallySink sink) {
        tally.forEach((place, more) -> sink.add(place.graph(), place.predicate(), more));
    }

    public Key key(Statement statement) throws SQLException {
        return new Key(
                terms.number(session, statement.subject()),
                terms.number(session, Resource.of(statement.predicate())),
                terms.number(session, statement.object()),
                number(statement.graph()));
    }

    /** The number of a resource, or none. */
    public long number(@Nullable String id) throws SQLException {
        return id == null ? Terms.NONE : terms.number(session, Resource.of(id));
    }

    /** The number of the row that has this provenance. */
    public long provenance(Map<String, @Nullable Object> provenance) throws SQLException {
        if (provenance.isEmpty()) {
            return Terms.NONE;
        }
        Long number = known.get(provenance);
        if (number == null) {
            number = session.number(
                    "INSERT INTO kg_provenance (provenance, space, json)"
                            + " SELECT coalesce(max(provenance), 0) + 1, ?, ? FROM kg_provenance RETURNING provenance",
                    space.number(),
                    JsonColumn.of(provenance));
            known.put(provenance, number);
        }
        return number;
    }

    @Override
    public List<Fact> find(Statement statement) {
        return reading(() -> {
            Key key = key(statement);
            var rows = new ArrayList<Row>();
            try (ResultSet found = bound(
                            "SELECT s, p, o, g, certainty, confirmed_ms, provenance, change_no, source FROM kg_statement"
                                    + KEY + " AND hint = 0",
                            key)
                    .executeQuery()) {
                while (found.next()) {
                    rows.add(SqlScan.row(found));
                }
            }
            return facts.of(rows);
        });
    }

    private PreparedStatement bound(String text, Key key) throws SQLException {
        return session.bind(text, space.number(), key.s, key.p, key.o, key.g);
    }

    @Override
    public void put(Statement statement) {
        reading(() -> {
            Key key = key(statement);
            changed(statement, true);
            long source = source(statement.provenance());
            put(key, statement.certainty(), provenance(statement.provenance()), source, 0);
            hints(key, statement, source);
            return key;
        });
    }

    /** Holds the types that are mentioned with a statement. */
    public void hints(Key key, Statement statement, long source) throws SQLException {
        hint(key.s, statement.subject(), statement, source);
        if (statement.object() instanceof Resource object) {
            hint(key.o, object, statement, source);
        }
    }

    /** Returns the number of the source of a statement. Annotations of each source are stored separately. */
    public long source(Map<String, @Nullable Object> provenance) throws SQLException {
        Object agent = requireNonNullElse(provenance.get("sourceAgentId"), "");
        return agent.toString().isEmpty() ? Terms.NONE : number(agent.toString());
    }

    /** Stores a type that a statement only mentions, as a statement that is neither reported to watchers nor counted. */
    private void hint(long entity, Resource resource, Statement with, long source) throws SQLException {
        String type = resource.type();
        if (type == null) {
            return;
        }
        changed(resource, Term.TYPE, Resource.of(type), with.graph(), true);
        var key = new Key(entity, number(Term.TYPE), number(type), number(with.graph()));
        Held held = held(key);
        Double certainty = with.certainty();
        if (held == null) {
            put(key, certainty, provenance(with.provenance()), source, 1);
        } else if (held.hint == 1) {
            Double best = held.certainty == null || certainty == null
                    ? (held.certainty == null ? certainty : held.certainty)
                    : Double.valueOf(Math.max(held.certainty, certainty));
            put(key, best, held.provenance, held.source, 1);
        }
    }

    private @Nullable Held held(Key key) throws SQLException {
        try (ResultSet row = bound(
                        "SELECT certainty, confirmed_ms, provenance, source, change_no, hint FROM kg_statement" + KEY,
                        key)
                .executeQuery()) {
            return held(row);
        }
    }

    private static @Nullable Held held(ResultSet row) throws SQLException {
        if (!row.next()) {
            return null;
        }
        double certainty = row.getDouble(1);
        return new Held(
                row.wasNull() ? null : (Double) certainty,
                row.getLong(2),
                row.getLong(3),
                row.getLong(4),
                row.getLong(5),
                row.getInt(6));
    }

    private void put(Key key, @Nullable Double certainty, long provenance, long source, int hint) throws SQLException {
        if (insert(key, certainty, provenance, source, hint)) {
            return;
        }
        keepAssertion(key, source);
        update(key, certainty, nowMs, provenance, source, hint);
    }

    private void update(Key key, @Nullable Double certainty, long confirmedMs, long provenance, long source, int hint)
            throws SQLException {
        session.update(
                "UPDATE kg_statement SET certainty = ?, confirmed_ms = ?, provenance = ?, source = ?, change_no = ?, hint = ?"
                        + KEY,
                certainty,
                confirmedMs,
                provenance,
                source,
                change,
                hint,
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g);
    }

    /** A statement that is to be held, and the change that brings it. */
    public record Coming(Statement statement, Key key, long change) {}

    /** Gives numbers to the terms of statements, and returns the new ones. */
    public List<Coming> coming(List<Statement> statements, LongSupplier changes) throws SQLException {
        var parts = new LinkedHashSet<Term>();
        for (Statement one : statements) {
            parts.add(one.subject());
            parts.add(Resource.of(one.predicate()));
            parts.add(one.object());
        }
        Map<Term, Long> numbers = terms.numbers(session, parts);
        var coming = new ArrayList<Coming>(statements.size());
        for (Statement one : statements) {
            var key = new Key(
                    requireNonNull(numbers.get(one.subject())),
                    requireNonNull(numbers.get(Resource.of(one.predicate()))),
                    requireNonNull(numbers.get(one.object())),
                    number(one.graph()));
            coming.add(new Coming(one, key, changes.getAsLong()));
        }
        return coming;
    }

    /**
     * Holds what changes say that were written just now, so that the database need not be told twice; those that say what
     * is held already are forgotten, and returned by their numbers.
     */
    public Set<Long> holdChanges(List<Coming> coming, long source) throws SQLException {
        if (coming.isEmpty()) {
            return Set.of();
        }
        loaded = true;
        long first = coming.getFirst().change;
        long last = coming.getLast().change;
        int held = session.update(
                sql.insertNew(
                        "kg_statement (space, s, p, o, g, certainty, confirmed_ms, provenance, source, change_no, hint)"
                                + " SELECT space, s, p, o, g, certainty, made_ms, provenance, ?, change_no, 0 FROM kg_change"
                                + " WHERE space = ? AND change_no BETWEEN ? AND ? ORDER BY change_no"),
                source,
                space.number(),
                first,
                last);
        Set<Long> known = Set.of();
        if (held < coming.size()) {
            known = Set.copyOf(session.list(
                    rows -> rows.getLong(1),
                    "DELETE FROM kg_change WHERE space = ? AND change_no BETWEEN ? AND ? AND NOT EXISTS (SELECT 1"
                            + " FROM kg_statement x WHERE x.space = kg_change.space AND x.s = kg_change.s AND x.p ="
                            + " kg_change.p AND x.o = kg_change.o AND x.g = kg_change.g AND x.change_no ="
                            + " kg_change.change_no) RETURNING change_no",
                    space.number(),
                    first,
                    last));
        }
        for (Coming one : coming) {
            if (!known.contains(one.change)) {
                tally.merge(new Place(one.key.g, one.key.p), 1L, Long::sum);
            }
        }
        return known;
    }

    /** Inserts a statement unless it is present; returns false, with nothing changed, if it is. */
    private boolean insert(Key key, @Nullable Double certainty, long provenance, long source, int hint)
            throws SQLException {
        int inserted = session.update(
                "INSERT INTO kg_statement (space, s, p, o, g, certainty, confirmed_ms, provenance, source, change_no, hint)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g,
                certainty,
                nowMs,
                provenance,
                source,
                change,
                hint);
        if (inserted == 1) {
            tally.merge(new Place(key.g, key.p), 1L, Long::sum);
        }
        return inserted == 1;
    }

    /** Before another source says the same, what the source before has said is put aside. */
    private void keepAssertion(Key key, long source) throws SQLException {
        Held held = held(key);
        if (held == null || held.source == source || held.hint == 1) {
            return;
        }
        removeAssertion(key, held.source);
        removeAssertion(key, source);
        session.update(
                "INSERT INTO kg_assertion (space, s, p, o, g, source, certainty, confirmed_ms, provenance, change_no)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g,
                held.source,
                held.certainty,
                held.confirmedMs,
                held.provenance,
                held.change);
    }

    private void removeAssertion(Key key, long source) throws SQLException {
        session.update(
                "DELETE FROM kg_assertion" + KEY + " AND source = ?",
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g,
                source);
    }

    @Override
    public Left withdraw(Statement statement, @Nullable String name) throws SQLException {
        long source = number(name);
        Key key = key(statement);
        Held held = held(key);
        if (held == null || held.source != source) {
            removeAssertion(key, source);
            return Left.AS_IT_WAS;
        }
        return withdraw(statement, key, held);
    }

    @Override
    public Left withdraw(Statement statement) throws SQLException {
        Key key = key(statement);
        Held held = held(key);
        return held == null ? Left.AS_IT_WAS : withdraw(statement, key, held);
    }

    private Left withdraw(Statement statement, Key key, Held held) throws SQLException {
        Held other = otherAssertion(key);
        if (other == null) {
            remove(statement);
            return held.hint == 1 ? Left.AS_IT_WAS : Left.NOTHING;
        }
        changed(statement, true);
        update(key, other.certainty, other.confirmedMs, other.provenance, other.source, 0);
        removeAssertion(key, other.source);
        return Left.OF_OTHERS;
    }

    /** Returns the newest annotations of a statement by another source. */
    private @Nullable Held otherAssertion(Key key) throws SQLException {
        try (ResultSet row = bound(
                        "SELECT certainty, confirmed_ms, provenance, source, change_no, 0 FROM kg_assertion" + KEY
                                + " ORDER BY confirmed_ms DESC, change_no DESC LIMIT 1",
                        key)
                .executeQuery()) {
            return held(row);
        }
    }

    @Override
    public void remove(Statement statement) {
        reading(() -> {
            Key key = key(statement);
            changed(statement, false);
            if (bound("DELETE FROM kg_statement" + KEY, key).executeUpdate() > 0) {
                tally.merge(new Place(key.g, key.p), -1L, Long::sum);
                bound("DELETE FROM kg_assertion" + KEY, key).executeUpdate();
            }
            return key;
        });
    }
}
