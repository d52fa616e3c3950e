package dev.parley.knowledge.journal;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.changes.ReadSet;
import dev.parley.knowledge.changes.ReplacedStatements;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.knowledge.store.Sql;
import dev.parley.knowledge.store.SqlFacts;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.knowledge.store.Terms;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.database.DatabaseSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The feed of changes of all groups, in rows written with the statements. */
public final class Changes {
    private static final List<Patch.Op> OPS = List.of(Patch.Op.ADD, Patch.Op.REMOVE, Patch.Op.REPLACE);

    /** Changes that are looked at one by one. */
    private static final int MAX_COMPARED = 500;

    private final Terms terms;
    private final Sql sql;
    private final Sweep sweep;

    Changes(Terms terms, Sql sql, Sweep sweep) {
        this.terms = terms;
        this.sql = sql;
        this.sweep = sweep;
    }

    /**
     * Writes a change.
     *
     * @param stamped the statement with the provenance that it is held with
     * @param replaced removed statements; authorization rules decide by them which readers receive the change
     * @param types types of the subject at that time, if rules depend on them
     * @param more members that belong to the whole update
     */
    public Numbered append(
            GraphWriting writing,
            long number,
            Patch.Op op,
            Statement stamped,
            List<Statement> replaced,
            @Nullable Set<String> types,
            Map<String, @Nullable Object> more)
            throws SQLException {
        String old = replaced.isEmpty()
                ? null
                : JsonColumn.of(
                        op == Patch.Op.REMOVE
                                ? replaced.stream()
                                        .map(ReplacedStatements::remarks)
                                        .toList()
                                : ReplacedStatements.values(replaced));
        long nowMs = writing.nowMs();
        writing.record(tables -> {
            bound(tables, new SqlWriting.Coming(stamped, tables.key(stamped), number), op, nowMs, old, types, more)
                    .executeUpdate();
            Object task = more.get("taskId");
            if (task != null) {
                tables.session()
                        .update(
                                "INSERT INTO kg_task (space, task_id, change_no) VALUES (?, ?, ?)",
                                tables.space().number(),
                                task.toString(),
                                number);
            }
            sweep.changes(tables.session(), tables.space().number(), 1);
        });
        return numbered(writing, number, op, stamped, replaced, types, more);
    }

    /**
     * Adds statements and records the changes, without a task and without notifying subscribers. Statements that exist already
     * stay unchanged.
     *
     * @return numbers of the changes that were not made for that reason
     */
    public Set<Long> add(
            SqlWriting writing, List<SqlWriting.Coming> coming, long source, Map<String, @Nullable Object> more)
            throws SQLException {
        PreparedStatement insert = null;
        for (SqlWriting.Coming one : coming) {
            insert = bound(writing, one, Patch.Op.ADD, writing.nowMs(), null, null, more);
            insert.addBatch();
        }
        if (insert != null) {
            insert.executeBatch();
        }
        Set<Long> known = writing.holdChanges(coming, source);
        sweep.changes(writing.session(), writing.space().number(), coming.size() - known.size());
        return known;
    }

    private PreparedStatement bound(
            SqlWriting writing,
            SqlWriting.Coming coming,
            Patch.Op op,
            long nowMs,
            @Nullable String replaced,
            @Nullable Set<String> types,
            Map<String, @Nullable Object> more)
            throws SQLException {
        Statement stamped = coming.statement();
        SqlWriting.Key key = coming.key();
        String objectType = stamped.object() instanceof Resource object ? object.type() : null;
        String typesJson = types == null ? null : JsonColumn.of(types);
        long bytes = writing.bytes(stamped) + SqlWriting.bytes(replaced) + SqlWriting.bytes(typesJson);
        writing.countChanges(bytes);
        return writing.session()
                .bind(
                        "INSERT INTO kg_change (change_no, space, op, s, p, o, g, s_type, o_type, certainty, provenance, made_ms,"
                                + " replaced, more, types, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        coming.change(),
                        writing.space().number(),
                        OPS.indexOf(op),
                        key.s(),
                        key.p(),
                        key.o(),
                        key.g(),
                        writing.number(stamped.subject().type()),
                        writing.number(objectType),
                        stamped.certainty(),
                        writing.provenance(stamped.provenance()),
                        nowMs,
                        replaced,
                        writing.provenance(more),
                        typesJson,
                        bytes);
    }

    /** Returns a change in the form that subscribers receive. */
    public static Numbered numbered(
            GraphWriting writing,
            long number,
            Patch.Op op,
            Statement stamped,
            List<Statement> replaced,
            @Nullable Set<String> types,
            Map<String, @Nullable Object> more) {
        Map<String, @Nullable Object> metadata = more;
        if (op == Patch.Op.REPLACE && !replaced.isEmpty()) {
            metadata = new LinkedHashMap<>(more);
            metadata.put("replaced", ReplacedStatements.values(replaced));
        }
        return new Numbered(
                number,
                new Change(
                        op, stamped, writing.space().changeId(number), Instant.ofEpochMilli(writing.nowMs()), metadata),
                replaced,
                types);
    }

    /**
     * Forgets the changes of a group up to this one, so that subscribers that resume before it start anew; returns its number.
     * The rows are {@linkplain ChangeStore#removeForgotten removed} afterwards.
     */
    public static long forgetUpTo(DatabaseSession session, long space, long last) throws SQLException {
        session.update("UPDATE kg_space SET forgotten = ? WHERE space = ? AND forgotten < ?", last, space, last);
        return last;
    }

    /**
     * Returns changes after a number, the oldest first: at least one if there is one, and fewer than {@code limit} if they
     * are so long that memory would suffer.
     */
    public List<Numbered> after(DatabaseSession session, GroupCache space, long after, int limit) throws SQLException {
        for (int some = limit; ; some /= 2) {
            try {
                return changesAtOnce(session, space, after, some);
            } catch (Terms.TooLong tooLong) {
                // Not so many, then; one of them is never too long.
            }
        }
    }

    /**
     * True if something of {@code read} may have changed between two changes: by a change after the first, up to the second. Also if not
     * all of them are there to be looked at.
     */
    public boolean mayTouch(DatabaseSession session, GroupCache space, ReadSet read, long first, long last)
            throws SQLException {
        if (last - first > MAX_COMPARED) {
            return true;
        }
        int count = (int) (last - first);
        List<Numbered> between = count == 0 ? List.of() : after(session, space, first, count);
        return between.size() < count
                || count > 0 && between.getLast().number() != last
                || between.stream().anyMatch(read::mayContain);
    }

    /** A row of the table of changes. */
    private record Row(
            long number,
            int op,
            long s,
            long p,
            long o,
            long g,
            long subjectType,
            long objectType,
            @Nullable Double certainty,
            long provenance,
            long madeMs,
            @Nullable String replaced,
            long more,
            @Nullable String types) {}

    private List<Numbered> changesAtOnce(DatabaseSession session, GroupCache space, long after, int limit)
            throws SQLException {
        List<Row> rows = rows(session, space, after, limit);
        var numbers = new HashSet<Long>();
        rows.forEach(row -> numbers.addAll(List.of(row.s, row.p, row.o, row.g, row.subjectType, row.objectType)));
        numbers.remove(Terms.NONE);
        Map<Long, Term> known = terms.getAll(session, numbers);
        var facts = new SqlFacts(session, space, terms, true);
        var changes = new ArrayList<Numbered>(rows.size());
        long characters = 0;
        for (Row row : rows) {
            if (characters > LongRows.MAX_CHARACTERS) {
                return changes;
            }
            changes.add(numbered(row, known, facts, space));
            characters += Characters.of(changes.getLast().change());
        }
        return changes;
    }

    private static List<Row> rows(DatabaseSession session, GroupCache space, long after, int limit)
            throws SQLException {
        var rows = new ArrayList<Row>();
        long characters = 0;
        PreparedStatement select = session.bind(
                "SELECT change_no, op, s, p, o, g, s_type, o_type, certainty, provenance, made_ms, replaced, more, types"
                        + " FROM kg_change WHERE space = ? AND change_no > ? ORDER BY change_no LIMIT ?",
                space.number(),
                after,
                limit);
        select.setFetchSize(LongRows.FETCHED);
        try (ResultSet found = select.executeQuery()) {
            while (characters <= LongRows.MAX_CHARACTERS && found.next()) {
                double certainty = found.getDouble(9);
                boolean unknown = found.wasNull();
                rows.add(new Row(
                        found.getLong(1),
                        found.getInt(2),
                        found.getLong(3),
                        found.getLong(4),
                        found.getLong(5),
                        found.getLong(6),
                        found.getLong(7),
                        found.getLong(8),
                        unknown ? null : (Double) certainty,
                        found.getLong(10),
                        found.getLong(11),
                        DatabaseSession.text(found, 12),
                        found.getLong(13),
                        DatabaseSession.text(found, 14)));
                String replaced = rows.getLast().replaced;
                characters += replaced == null ? 0 : replaced.length();
            }
        }
        return rows;
    }

    private static Numbered numbered(Row row, Map<Long, Term> known, SqlFacts facts, GroupCache space)
            throws SQLException {
        Term object = requireNonNull(known.get(row.o));
        var metadata = new LinkedHashMap<>(facts.provenance(row.more));
        var statement = new Statement(
                new Resource(id(known, row.s), name(known, row.subjectType)),
                id(known, row.p),
                object instanceof Resource resource && row.objectType != Terms.NONE
                        ? new Resource(resource.id(), name(known, row.objectType))
                        : object,
                name(known, row.g),
                row.certainty,
                facts.provenance(row.provenance));
        List<?> replaced = row.replaced == null ? List.of() : JsonColumn.list(row.replaced);
        Patch.Op op = OPS.get(row.op);
        if (op == Patch.Op.REPLACE && !replaced.isEmpty()) {
            metadata.put("replaced", replaced);
        }
        return new Numbered(
                row.number,
                new Change(op, statement, space.changeId(row.number), Instant.ofEpochMilli(row.madeMs), metadata),
                replaced.stream()
                        .map(one -> ReplacedStatements.read(statement, (Map<?, ?>) one))
                        .toList(),
                row.types == null
                        ? null
                        : JsonColumn.list(row.types).stream()
                                .map(String::valueOf)
                                .collect(Collectors.toSet()));
    }

    private static String id(Map<Long, Term> known, long number) {
        return ((Resource) requireNonNull(known.get(number))).id();
    }

    private static @Nullable String name(Map<Long, Term> known, long number) {
        return number == Terms.NONE ? null : id(known, number);
    }

    /** True if changes after this one have been forgotten. */
    public boolean isForgotten(DatabaseSession session, GroupCache space, long change) throws SQLException {
        return session.number("SELECT forgotten FROM kg_space WHERE space = ?", space.number()) > change;
    }

    /**
     * Returns the numbers of the changes that name a task, the oldest first.
     *
     * @param recordedBy the caller that made them; null for any
     */
    List<Long> ofTask(DatabaseSession session, GroupCache space, String taskId, @Nullable String recordedBy, int limit)
            throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        values.add(space.number());
        values.add(taskId);
        values.add(AuditChain.hashed(taskId)); // changes of an erased caller
        String query = "SELECT t.change_no FROM kg_task t WHERE t.space = ? AND t.task_id IN (?, ?)";
        if (recordedBy != null) {
            query +=
                    " AND EXISTS (SELECT 1 FROM kg_change c JOIN kg_provenance y ON y.provenance = c.more WHERE c.space ="
                            + " t.space AND c.change_no = t.change_no AND " + sql.member("y.json", "recordedBy")
                            + " IN (?, ?))";
            values.add(recordedBy);
            values.add(AuditChain.hashed(recordedBy));
        }
        values.add(limit);
        return session.list(rows -> rows.getLong(1), query + " ORDER BY t.change_no LIMIT ?", values.toArray());
    }
}
