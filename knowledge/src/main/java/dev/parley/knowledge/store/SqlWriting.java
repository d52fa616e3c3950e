package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.store.SqlScan.Row;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import java.nio.charset.StandardCharsets;
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
            @Nullable Double certainty,
            long confirmedMs,
            long provenance,
            long source,
            long change,
            int hint,
            long bytes) {}

    private record Place(long graph, long predicate) {}

    private record StoredProvenance(long number, long bytes) {
        static final StoredProvenance NONE = new StoredProvenance(Terms.NONE, 0);
    }

    private final long nowMs;
    private final ChangeNumbers.Counter counter;
    private final long before;
    private final Map<Place, Long> tally = new HashMap<>();
    private final Map<Map<String, @Nullable Object>, StoredProvenance> known = new HashMap<>();
    private long bytes;
    private long bytesOfChanges;
    private boolean growing;
    private long change;
    private final Map<Statement, Boolean> changed = new LinkedHashMap<>();
    private boolean loaded;
    private boolean unnumbered;

    SqlWriting(
            DatabaseSession session,
            GroupCache space,
            Terms terms,
            Sql sql,
            long nowMs,
            ChangeNumbers.Counter counter) {
        super(session, space, terms, sql, ReadFilter.NONE, new SqlFacts(session, space, terms, false));
        this.nowMs = nowMs;
        this.counter = counter;
        this.before = counter.newest();
    }

    // ---- Bytes for the quota of the group

    /** Counts bytes that are written, or removed if they are negative. */
    public void count(long more) {
        bytes += more;
        growing |= more > 0;
    }

    /** Counts bytes that belong to an update, also to one that only removes statements. */
    public void countRecord(long more) {
        bytes += more;
    }

    /** Counts bytes of the feed. */
    public void countChanges(long more) {
        bytesOfChanges += more;
    }

    /** Whether anything is added, rather than removed only. */
    boolean isGrowing() {
        return growing;
    }

    long bytes() {
        return bytes;
    }

    long bytesOfChanges() {
        return bytesOfChanges;
    }

    /** Bytes of a text in the tables. */
    public static long bytes(@Nullable String text) {
        return text == null ? 0 : text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Bytes of a statement, as if nothing of it were shared. */
    public long bytes(Statement statement) throws SQLException {
        String object = switch (statement.object()) {
            case Resource resource -> resource.id();
            case Literal literal -> literal.lexical();
        };
        return Storage.ROW + bytes(object) + stored(statement.provenance()).bytes;
    }

    @Override
    public void record(Recording recording) throws SQLException {
        recording.write(this);
    }

    @Override
    public long nextChange() {
        return counter.next();
    }

    @Override
    public long numberedBefore() {
        return before;
    }

    /** Goes on after changes that were numbered before the transaction; false if there are others by then. */
    public boolean hasNumbered(long before, long newest) {
        boolean isNext = counter.newest() == before;
        counter.reset(isNext ? newest : counter.newest());
        return isNext;
    }

    @Override
    public void change(long number) {
        this.change = number;
    }

    @Override
    public long take(Asking<Long> taking) throws SQLException {
        return taking.ask(session, space);
    }

    @Override
    public Map<Statement, Boolean> changed() {
        return changed;
    }

    /** True if statements were written that {@link #changed} does not list. */
    boolean isLoaded() {
        return loaded;
    }

    /** True if a type that is only mentioned was written or removed without a change that says so. */
    boolean isUnnumbered() {
        return unnumbered;
    }

    private void changed(Resource subject, String predicate, Term object, @Nullable String graph, boolean held) {
        changed.put(new Statement(subject, predicate, object, graph, null, Map.of()), held);
    }

    private void changed(Statement statement, boolean held) {
        changed(statement.subject(), statement.predicate(), statement.object(), statement.graph(), held);
    }

    /** Number of new statements. */
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
        return stored(provenance).number;
    }

    private StoredProvenance stored(Map<String, @Nullable Object> provenance) throws SQLException {
        if (provenance.isEmpty()) {
            return StoredProvenance.NONE;
        }
        StoredProvenance stored = known.get(provenance);
        if (stored == null) {
            String json = JsonColumn.of(provenance);
            long number = session.number(
                    "INSERT INTO kg_provenance (space, json) VALUES (?, ?) RETURNING provenance", space.number(), json);
            stored = new StoredProvenance(number, bytes(json));
            known.put(provenance, stored);
        }
        return stored;
    }

    /** Writes a setting of the group; null removes it. */
    public void setting(String name, @Nullable String value) throws SQLException {
        count(-session.number(
                "SELECT " + Storage.ROW + " + octet_length(value) FROM kg_setting WHERE space = ? AND name = ?",
                space.number(),
                name));
        session.update("DELETE FROM kg_setting WHERE space = ? AND name = ?", space.number(), name);
        if (value != null) {
            session.update("INSERT INTO kg_setting (space, name, value) VALUES (?, ?, ?)", space.number(), name, value);
            count(Storage.ROW + bytes(value));
        }
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
            put(key, statement.certainty(), provenance(statement.provenance()), source, 0, bytes(statement));
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
            put(key, certainty, provenance(with.provenance()), source, 1, Storage.ROW + bytes(type));
            unnumbered |= change <= before;
        } else if (held.hint == 1) {
            Double best = held.certainty == null || certainty == null
                    ? (held.certainty == null ? certainty : held.certainty)
                    : Double.valueOf(Math.max(held.certainty, certainty));
            put(key, best, held.provenance, held.source, 1, held.bytes);
        }
    }

    private @Nullable Held held(Key key) throws SQLException {
        try (ResultSet row = bound(
                        "SELECT certainty, confirmed_ms, provenance, source, change_no, hint, bytes FROM kg_statement"
                                + KEY,
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
                row.getInt(6),
                row.getLong(7));
    }

    private void put(Key key, @Nullable Double certainty, long provenance, long source, int hint, long size)
            throws SQLException {
        if (insert(key, certainty, provenance, source, hint, size)) {
            return;
        }
        Held held = held(key);
        if (held != null) {
            keepAssertion(key, source, held);
            count(-held.bytes);
        }
        count(size);
        update(key, new Held(certainty, nowMs, provenance, source, change, hint, size));
    }

    private void update(Key key, Held now) throws SQLException {
        session.update(
                "UPDATE kg_statement SET certainty = ?, confirmed_ms = ?, provenance = ?, source = ?, change_no = ?, hint = ?,"
                        + " bytes = ?" + KEY,
                now.certainty,
                now.confirmedMs,
                now.provenance,
                now.source,
                change,
                now.hint,
                now.bytes,
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g);
    }

    /** A statement that is to be held, and the change that brings it. */
    public record Coming(Statement statement, Key key, long change) {}

    /** Gives numbers to the terms of statements and to the changes that bring them. */
    public List<Coming> coming(List<Statement> statements) throws SQLException {
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
            coming.add(new Coming(one, key, nextChange()));
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
                        "kg_statement (space, s, p, o, g, certainty, confirmed_ms, provenance, source, change_no, hint, bytes)"
                                + " SELECT space, s, p, o, g, certainty, made_ms, provenance, ?, change_no, 0, bytes FROM kg_change"
                                + " WHERE space = ? AND change_no BETWEEN ? AND ? ORDER BY change_no"),
                source,
                space.number(),
                first,
                last);
        Set<Long> known = Set.of();
        if (held < coming.size()) {
            known = Set.copyOf(session.list(
                    rows -> {
                        countChanges(-rows.getLong(2));
                        return rows.getLong(1);
                    },
                    "DELETE FROM kg_change WHERE space = ? AND change_no BETWEEN ? AND ? AND NOT EXISTS (SELECT 1"
                            + " FROM kg_statement x WHERE x.space = kg_change.space AND x.s = kg_change.s AND x.p ="
                            + " kg_change.p AND x.o = kg_change.o AND x.g = kg_change.g AND x.change_no ="
                            + " kg_change.change_no) RETURNING change_no, bytes",
                    space.number(),
                    first,
                    last));
        }
        for (Coming one : coming) {
            if (!known.contains(one.change)) {
                tally.merge(new Place(one.key.g, one.key.p), 1L, Long::sum);
                count(bytes(one.statement));
            }
        }
        return known;
    }

    /** Inserts a statement unless it is present; returns false, with nothing changed, if it is. */
    private boolean insert(Key key, @Nullable Double certainty, long provenance, long source, int hint, long size)
            throws SQLException {
        int inserted = session.update(
                "INSERT INTO kg_statement (space, s, p, o, g, certainty, confirmed_ms, provenance, source, change_no, hint, bytes)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
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
                hint,
                size);
        if (inserted == 1) {
            count(size);
            tally.merge(new Place(key.g, key.p), 1L, Long::sum);
        }
        return inserted == 1;
    }

    /** Before another source says the same, what the source before has said is put aside. */
    private void keepAssertion(Key key, long source, Held held) throws SQLException {
        if (held.source == source || held.hint == 1) {
            return;
        }
        removeAssertion(key, held.source);
        removeAssertion(key, source);
        session.update(
                "INSERT INTO kg_assertion (space, s, p, o, g, source, certainty, confirmed_ms, provenance, change_no, bytes)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                space.number(),
                key.s,
                key.p,
                key.o,
                key.g,
                held.source,
                held.certainty,
                held.confirmedMs,
                held.provenance,
                held.change,
                held.bytes);
        count(held.bytes);
    }

    private void removeAssertion(Key key, long source) throws SQLException {
        removeCounted("kg_assertion" + KEY + " AND source = ?", space.number(), key.s, key.p, key.o, key.g, source);
    }

    /** Removes rows of a table with their bytes; false if there is none. */
    private boolean removeCounted(String fromAndWhere, @Nullable Object... values) throws SQLException {
        List<Long> removed =
                session.list(row -> row.getLong(1), "DELETE FROM " + fromAndWhere + " RETURNING bytes", values);
        removed.forEach(size -> count(-size));
        return !removed.isEmpty();
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
        bytes += other.bytes - held.bytes; // counted twice until the assertion is removed
        update(key, other);
        removeAssertion(key, other.source);
        return Left.OF_OTHERS;
    }

    /** Returns the newest annotations of a statement by another source. */
    private @Nullable Held otherAssertion(Key key) throws SQLException {
        try (ResultSet row = bound(
                        "SELECT certainty, confirmed_ms, provenance, source, change_no, 0, bytes FROM kg_assertion"
                                + KEY + " ORDER BY confirmed_ms DESC, change_no DESC LIMIT 1",
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
            Object[] values = {space.number(), key.s, key.p, key.o, key.g};
            List<Integer> hints = session.list(
                    row -> {
                        count(-row.getLong(1));
                        return row.getInt(2);
                    },
                    "DELETE FROM kg_statement" + KEY + " RETURNING bytes, hint",
                    values);
            unnumbered |= hints.contains(1);
            if (!hints.isEmpty()) {
                tally.merge(new Place(key.g, key.p), -1L, Long::sum);
                var unused = removeCounted("kg_assertion" + KEY, values);
            }
            return key;
        });
    }
}
