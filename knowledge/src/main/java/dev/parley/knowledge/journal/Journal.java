package dev.parley.knowledge.journal;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.changes.ReplacedStatements;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Page;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.knowledge.store.Space;
import dev.parley.knowledge.store.Sql;
import dev.parley.knowledge.store.SqlFacts;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.knowledge.store.Terms;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.database.Database;
import dev.parley.store.database.Session;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records written with the statements, in the same transactions: the feed of changes, updates that wait for review, and
 * the answers to updates that may be repeated. Old entries are removed beside them, in transactions of 5 ms each.
 */
public final class Journal {
    /**
     * Retention limits of the journal, enforced every few entries.
     *
     * @param changes number of changes kept per group, for subscribers that resume
     * @param changesFor longest time that changes are kept
     * @param queries number of logged queries kept, over all groups
     * @param answersFor time for which the answer to an update with an idempotency key is kept
     */
    public record Keeping(long changes, Duration changesFor, long queries, Duration answersFor, int sweepEvery) {
        public static final Keeping DEFAULTS =
                new Keeping(100_000, Duration.ofDays(7), 1_000_000, Duration.ofDays(1), 50_000);
    }

    /** Keys further ahead of the clock than this were made by a wrong clock. */
    private static final Duration AHEAD = Duration.ofHours(1);

    /** Limit of changes read at once, in characters. */
    private static final long MAX_CHARACTERS = 4L << 20;

    /** Fetch size for PostgreSQL, in rows, which may be long. */
    private static final int FETCHED = 32;

    private static final List<Patch.Op> OPS = List.of(Patch.Op.ADD, Patch.Op.REMOVE, Patch.Op.REPLACE);

    /** Database setting with the newest number of a review. */
    private static final String LAST_REVIEW = "last review";

    /** Rows that a sweep reads at a time, outside of the writer. */
    private static final int SWEPT_AT_ONCE = 1_000;

    /** Rows that one statement removes. */
    private static final int RANGE = 20;

    private static final Logger LOG = System.getLogger("dev.parley.knowledge");

    private final Database database;
    private final Terms terms;
    private final Sql sql;
    private final Keeping keeping;
    private final InstantSource steadyClock;
    private final AtomicLong lastChange;
    private long lastQuery;
    private final AtomicLong lastReview;
    private long sinceSweep;
    private volatile CompletableFuture<Boolean> sweeping = CompletableFuture.completedFuture(true);
    private volatile boolean open = true;

    /** @param steadyClock decides what is old enough to be removed */
    public Journal(Database database, Terms terms, Sql sql, Keeping keeping, InstantSource steadyClock) {
        this.database = database;
        this.terms = terms;
        this.sql = sql;
        this.keeping = keeping;
        this.steadyClock = steadyClock;
        this.sinceSweep = keeping.sweepEvery(); // entries of earlier starts were counted by them
        this.lastChange = new AtomicLong(database.read(session -> session.number(
                "SELECT max(newest) FROM (SELECT coalesce((SELECT max(change_no) FROM kg_change c WHERE c.space = s.space),"
                        + " forgotten) AS newest FROM kg_space s) AS of_each")));
        this.lastQuery = database.read(session -> session.number("SELECT max(audit_no) FROM kg_audit"));
        // The newest review may have been erased; its number must not be reused.
        this.lastReview = new AtomicLong(database.read(session -> Math.max(
                session.number("SELECT max(review_no) FROM kg_review"),
                session.number(
                        "SELECT CAST(value AS BIGINT) FROM kg_setting WHERE space = 0 AND name = ?", LAST_REVIEW))));
    }

    // ---- Changes

    /** The number of the next change. Changes of a group are numbered one after the other, in the order of their commits. */
    public long nextChange() {
        return lastChange.incrementAndGet();
    }

    /**
     * Writes a change.
     *
     * @param stamped the statement with the provenance that it is held with
     * @param replaced removed statements: for readers that may see them, and to decide who may
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
            bound(tables, number, op, tables.key(stamped), stamped, nowMs, old, types, more)
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
            sweep(1);
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
            insert = bound(
                    writing, one.change(), Patch.Op.ADD, one.key(), one.statement(), writing.nowMs(), null, null, more);
            insert.addBatch();
        }
        if (insert != null) {
            insert.executeBatch();
        }
        Set<Long> known = writing.holdChanges(coming, source);
        sweep(coming.size() - known.size());
        return known;
    }

    private PreparedStatement bound(
            SqlWriting writing,
            long number,
            Patch.Op op,
            SqlWriting.Key key,
            Statement stamped,
            long nowMs,
            @Nullable String replaced,
            @Nullable Set<String> types,
            Map<String, @Nullable Object> more)
            throws SQLException {
        String objectType = stamped.object() instanceof Resource object ? object.type() : null;
        return writing.session()
                .bind(
                        "INSERT INTO kg_change (change_no, space, op, s, p, o, g, s_type, o_type, certainty, provenance, made_ms,"
                                + " replaced, more, types) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        number,
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
                        types == null ? null : JsonColumn.of(types));
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
     * Starts a sweep of entries beyond the retention limits of all groups, every few entries. On the writer thread, which only
     * deletes rows that another thread has found.
     */
    private void sweep(int entries) {
        sinceSweep += entries;
        if (sinceSweep < keeping.sweepEvery() || !open || !sweeping.isDone()) {
            return;
        }
        sinceSweep = 0;
        long nowMs = steadyClock.millis();
        long lastQueryToRemove = lastQuery - keeping.queries();
        var done = new CompletableFuture<Boolean>();
        sweeping = done;
        Thread.ofPlatform().daemon().name("knowledge-sweep").start(() -> {
            try {
                sweepAll(nowMs, lastQueryToRemove);
            } catch (StoreException failure) {
                LOG.log(open ? Level.WARNING : Level.DEBUG, "old entries are removed later", failure);
            } finally {
                done.complete(true);
            }
        });
    }

    private void sweepAll(long nowMs, long lastQueryToRemove) {
        for (long space : database.read(Journal::spaces)) {
            long beforeMs = nowMs - keeping.changesFor().toMillis();
            long last = database.read(session -> lastToRemove(session, space, beforeMs));
            if (last > 0) {
                database.write(session -> forgetUpTo(session, space, last));
                removeForgotten(space, last, false);
            }
        }
        removeNumbers("kg_audit", "audit_no", "audit_no > 0", lastQueryToRemove, false);
        sweepKeys(nowMs - keeping.answersFor().toMillis(), nowMs);
    }

    private static List<Long> spaces(Session session) throws SQLException {
        return session.list(rows -> rows.getLong(1), "SELECT space FROM kg_space");
    }

    /**
     * Returns the newest of the changes of a group that are to be removed; 0 if there is none. The newest change of a group is kept, since it
     * tells the revision. Age counts in the order of numbers: behind a change that is young enough none is too old, whatever a clock that was
     * put back has shown. Changes that are forgotten already were left by a sweep that did not end.
     */
    private long lastToRemove(Session session, long space, long beforeMs) throws SQLException {
        long tooMany = session.number(
                "SELECT change_no FROM kg_change WHERE space = ? ORDER BY change_no DESC LIMIT 1 OFFSET ?",
                space,
                keeping.changes());
        long kept = session.number(
                "SELECT coalesce((SELECT change_no FROM kg_change WHERE space = ? AND made_ms >= ? ORDER BY change_no LIMIT 1),"
                        + " (SELECT max(change_no) FROM kg_change WHERE space = ?))",
                space,
                beforeMs,
                space);
        long forgotten = session.number("SELECT forgotten FROM kg_space WHERE space = ?", space);
        return session.number(
                "SELECT max(change_no) FROM kg_change WHERE space = ? AND change_no <= ?",
                space,
                Math.max(forgotten, Math.max(tooMany, kept - 1)));
    }

    /**
     * Forgets the changes of a group up to this one, so that subscribers that resume before it start anew; returns its number.
     * The rows are {@linkplain #removeForgotten removed} afterwards.
     */
    public static long forgetUpTo(Session session, long space, long last) throws SQLException {
        session.update("UPDATE kg_space SET forgotten = ? WHERE space = ? AND forgotten < ?", last, space, last);
        return last;
    }

    /** Removes the rows of forgotten changes, after the rows that link tasks to them. */
    public void removeForgotten(long space, long last, boolean erased) {
        record Link(String task, long change) {}
        var from = new Link("", 0);
        List<Link> links;
        do {
            Link after = from;
            links = database.read(session -> {
                return session.list(
                        rows -> new Link(Session.text(rows, 1), rows.getLong(2)),
                        "SELECT task_id, change_no FROM kg_task WHERE space = ? AND (task_id, change_no) > (?, ?)"
                                + " AND change_no <= ? ORDER BY task_id, change_no LIMIT ?",
                        space,
                        after.task,
                        after.change,
                        last,
                        SWEPT_AT_ONCE);
            });
            database.writeInSlices(
                    links,
                    erased,
                    (session, link) -> session.update(
                            "DELETE FROM kg_task WHERE space = ? AND task_id = ? AND change_no = ?",
                            space,
                            link.task,
                            link.change));
            from = links.isEmpty() ? from : links.getLast();
        } while (links.size() == SWEPT_AT_ONCE && (open || erased));
        removeNumbers("kg_change", "change_no", "space = " + space, last, erased);
    }

    /** Removes the rows of a table with numbers up to {@code last}. */
    private void removeNumbers(String table, String key, String where, long last, boolean erased) {
        record Range(long first, long last) {}
        List<Range> ranges;
        do {
            ranges = database.read(session -> {
                var found = new ArrayList<Range>();
                try (ResultSet rows = session.bind(
                                "SELECT " + key + " FROM " + table + " WHERE " + where + " AND " + key
                                        + " <= ? ORDER BY " + key + " LIMIT ?",
                                last,
                                SWEPT_AT_ONCE)
                        .executeQuery()) {
                    for (int i = 0; rows.next(); i++) {
                        long number = rows.getLong(1);
                        if (i % RANGE == 0) {
                            found.add(new Range(number, number));
                        } else {
                            found.set(found.size() - 1, new Range(found.getLast().first, number));
                        }
                    }
                }
                return found;
            });
            database.writeInSlices(
                    ranges,
                    erased,
                    (session, range) -> session.update(
                            "DELETE FROM " + table + " WHERE " + where + " AND " + key + " BETWEEN ? AND ?",
                            range.first,
                            range.last));
        } while (ranges.size() == SWEPT_AT_ONCE / RANGE && (open || erased));
    }

    /**
     * Removes answers made before a time. Those made while the clock was ahead count from now on, and do not stay until the clock has
     * caught up.
     */
    private void sweepKeys(long beforeMs, long nowMs) {
        record Answer(long space, String caller, String key) {}
        long aheadMs = nowMs + AHEAD.toMillis();
        var from = new Answer(0, "", "");
        List<Answer> answers;
        do {
            Answer after = from;
            answers = database.read(session -> {
                return session.list(
                        rows -> new Answer(rows.getLong(1), Session.text(rows, 2), Session.text(rows, 3)),
                        "SELECT space, caller, key FROM kg_key WHERE (space, caller, key) > (?, ?, ?)"
                                + " AND (made_ms < ? OR made_ms > ?) ORDER BY space, caller, key LIMIT ?",
                        after.space,
                        after.caller,
                        after.key,
                        beforeMs,
                        aheadMs,
                        SWEPT_AT_ONCE);
            });
            String answer = " WHERE space = ? AND caller = ? AND key = ? AND made_ms ";
            database.writeInSlices(
                    answers,
                    false,
                    (session, one) -> session.update(
                                    "DELETE FROM kg_key" + answer + "< ?", one.space, one.caller, one.key, beforeMs)
                            + session.update(
                                    "UPDATE kg_key SET made_ms = ?" + answer + "> ?",
                                    nowMs,
                                    one.space,
                                    one.caller,
                                    one.key,
                                    aheadMs));
            from = answers.isEmpty() ? from : answers.getLast();
        } while (answers.size() == SWEPT_AT_ONCE && open);
    }

    /** Waits until the sweep that has begun, if one has, has ended. */
    public void awaitSweep() {
        sweeping.join();
    }

    /** Ends a sweep after the rows that it has found; the next start goes on with it. */
    public void close() {
        open = false;
        awaitSweep();
    }

    /**
     * Returns changes behind a number, the oldest first: at least one if there is one, and fewer than {@code limit} if they
     * are so long that memory would suffer.
     */
    public List<Numbered> changes(Session session, Space space, long after, int limit) throws SQLException {
        for (int some = limit; ; some /= 2) {
            try {
                return changesAtOnce(session, space, after, some);
            } catch (Terms.TooLong tooLong) {
                // Not so many, then; one of them is never too long.
            }
        }
    }

    private List<Numbered> changesAtOnce(Session session, Space space, long after, int limit) throws SQLException {
        record Row(
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
        var rows = new ArrayList<Row>();
        var numbers = new HashSet<Long>();
        long characters = 0;
        PreparedStatement select = session.bind(
                "SELECT change_no, op, s, p, o, g, s_type, o_type, certainty, provenance, made_ms, replaced, more, types"
                        + " FROM kg_change WHERE space = ? AND change_no > ? ORDER BY change_no LIMIT ?",
                space.number(),
                after,
                limit);
        select.setFetchSize(FETCHED);
        try (ResultSet found = select.executeQuery()) {
            while (characters <= MAX_CHARACTERS && found.next()) {
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
                        Session.text(found, 12),
                        found.getLong(13),
                        Session.text(found, 14)));
                String replaced = rows.getLast().replaced;
                characters += replaced == null ? 0 : replaced.length();
                for (int column = 3; column <= 8; column++) {
                    numbers.add(found.getLong(column));
                }
            }
        }
        numbers.remove(Terms.NONE);
        Map<Long, Term> known = terms.getAll(session, numbers);
        var facts = new SqlFacts(session, space, terms, true);
        var changes = new ArrayList<Numbered>(rows.size());
        characters = 0;
        for (Row row : rows) {
            if (characters > MAX_CHARACTERS) {
                return changes;
            }
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
            changes.add(new Numbered(
                    row.number,
                    new Change(op, statement, space.changeId(row.number), Instant.ofEpochMilli(row.madeMs), metadata),
                    replaced.stream()
                            .map(one -> ReplacedStatements.read(statement, (Map<?, ?>) one))
                            .toList(),
                    row.types == null
                            ? null
                            : JsonColumn.list(row.types).stream()
                                    .map(String::valueOf)
                                    .collect(Collectors.toSet())));
            characters += Characters.of(changes.getLast().change());
        }
        return changes;
    }

    private static String id(Map<Long, Term> known, long number) {
        return ((Resource) requireNonNull(known.get(number))).id();
    }

    private static @Nullable String name(Map<Long, Term> known, long number) {
        return number == Terms.NONE ? null : id(known, number);
    }

    /** True if changes behind this one have been forgotten. */
    public boolean isForgotten(Session session, Space space, long change) throws SQLException {
        return session.number("SELECT forgotten FROM kg_space WHERE space = ?", space.number()) > change;
    }

    /**
     * Returns the numbers of the changes that name a task, the oldest first.
     *
     * @param recordedBy the caller that made them; null for any
     */
    List<Long> ofTask(Session session, Space space, String taskId, @Nullable String recordedBy, int limit)
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

    // ---- Repetitions

    public Optional<UpdateResult> answered(Session session, Space space, String caller, String key)
            throws SQLException {
        return session.first(
                row -> result(JsonColumn.object(Session.text(row, 1))),
                "SELECT result FROM kg_key WHERE space = ? AND caller = ? AND key = ? AND made_ms > ?",
                space.number(),
                caller,
                key,
                steadyClock.millis() - keeping.answersFor().toMillis());
    }

    public void answer(GraphWriting writing, String caller, String key, UpdateResult result) throws SQLException {
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put("success", result.success());
        members.put("affected", result.statementsAffected());
        members.put("ids", result.affectedIds());
        members.put("status", result.verificationStatus());
        members.put("details", result.verificationDetails());
        writing.record(tables -> {
            tables.session()
                    .update(
                            "DELETE FROM kg_key WHERE space = ? AND caller = ? AND key = ?",
                            tables.space().number(),
                            caller,
                            key);
            tables.session()
                    .update(
                            "INSERT INTO kg_key (space, caller, key, made_ms, result) VALUES (?, ?, ?, ?, ?)",
                            tables.space().number(),
                            caller,
                            key,
                            tables.nowMs(),
                            JsonColumn.of(members));
        });
    }

    private static UpdateResult result(Map<String, @Nullable Object> members) {
        Object affected = members.get("affected");
        List<?> ids = (List<?>) requireNonNull(members.get("ids"));
        return new UpdateResult(
                Boolean.TRUE.equals(members.get("success")),
                affected instanceof Number number ? (Integer) number.intValue() : null,
                ids.stream().map(String::valueOf).toList(),
                (String) members.get("status"),
                (String) members.get("details"));
    }

    // ---- Review

    /** Stores an update for review and returns its number. */
    public long hold(GraphWriting writing, String caller, Update update, String reason) throws SQLException {
        long number = lastReview.incrementAndGet();
        writing.record(tables -> {
            tables.session()
                    .update(
                            "INSERT INTO kg_review (review_no, space, state, made_ms, caller, request, reason)"
                                    + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                            number,
                            tables.space().number(),
                            Review.State.PENDING.name(),
                            tables.nowMs(),
                            caller,
                            JsonColumn.of(update),
                            reason);
            tables.session().update("DELETE FROM kg_setting WHERE space = 0 AND name = ?", LAST_REVIEW);
            tables.session()
                    .update(
                            "INSERT INTO kg_setting (space, name, value) VALUES (0, ?, ?)",
                            LAST_REVIEW,
                            "" + lastReview.get());
        });
        return number;
    }

    /** Returns reviews in order of their numbers; of every state if {@code state} is null. */
    public Page<Review> reviews(Session session, Space space, Review.@Nullable State state, long after, int limit)
            throws SQLException {
        return reviews(
                session,
                state == null ? "review_no > ?" : "state = ? AND review_no > ?",
                limit,
                state == null
                        ? new Object[] {space.number(), after, limit + 1}
                        : new Object[] {space.number(), state.name(), after, limit + 1});
    }

    /** Returns the reviews that a principal has requested or decided. */
    public Page<Review> reviewsOf(Session session, Space space, String name, long after, int limit)
            throws SQLException {
        return reviews(session, "(caller = ? OR decided_by = ?) AND review_no > ?", limit, new Object[] {
            space.number(), name, name, after, limit + 1
        });
    }

    public Optional<Review> review(Session session, Space space, long number) throws SQLException {
        return reviews(session, "review_no = ?", 1, new Object[] {space.number(), number, 1}).items().stream()
                .findFirst();
    }

    private static Page<Review> reviews(Session session, String where, int limit, Object[] values) throws SQLException {
        var reviews = new ArrayList<Review>();
        long characters = 0;
        PreparedStatement select = session.bind(
                "SELECT review_no, state, made_ms, caller, request, reason, decided_ms, decided_by, remark"
                        + " FROM kg_review WHERE space = ? AND " + where + " ORDER BY review_no LIMIT ?",
                values);
        select.setFetchSize(FETCHED);
        try (ResultSet rows = select.executeQuery()) {
            while (characters <= MAX_CHARACTERS && rows.next()) {
                long decided = rows.getLong(7);
                characters += Session.text(rows, 5).length();
                reviews.add(new Review(
                        Long.toString(rows.getLong(1)),
                        Review.State.valueOf(Session.text(rows, 2)),
                        Instant.ofEpochMilli(rows.getLong(3)),
                        Session.text(rows, 4),
                        JsonColumn.read(Session.text(rows, 5), Update.class),
                        Session.text(rows, 6),
                        decided == 0 ? null : Instant.ofEpochMilli(decided),
                        Session.text(rows, 8),
                        Session.text(rows, 9)));
            }
        }
        boolean more = reviews.size() > limit || characters > MAX_CHARACTERS;
        List<Review> kept = reviews.size() > limit ? reviews.subList(0, limit) : reviews;
        return new Page<>(kept, more ? kept.getLast().id() : null);
    }

    /** Ends the wait of an update; false if it does not wait. */
    public boolean decide(SqlWriting writing, long number, Review.State state, String by, @Nullable String remark)
            throws SQLException {
        return writing.session()
                        .update(
                                "UPDATE kg_review SET state = ?, decided_ms = ?, decided_by = ?, remark = ?"
                                        + " WHERE review_no = ? AND state = ?",
                                state.name(),
                                writing.nowMs(),
                                by,
                                remark,
                                number,
                                Review.State.PENDING.name())
                == 1;
    }

    // ---- Queries

    /** Records a query with its caller and outcome. On the writer thread. */
    void logQuery(
            Session session, Space space, long nowMs, String caller, String operation, String outcome, String query)
            throws SQLException {
        sweep(1);
        session.update(
                "INSERT INTO kg_audit (audit_no, space, made_ms, caller, operation, outcome, detail)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                ++lastQuery,
                space.number(),
                nowMs,
                caller,
                operation,
                outcome,
                JsonColumn.of(Map.of("query", query)));
    }

    /** Returns logged queries behind a number, the oldest first; of one caller, unless that is null. */
    public List<LoggedQuery> queries(Session session, Space space, @Nullable String caller, long after, int limit)
            throws SQLException {
        return session.list(
                rows -> new LoggedQuery(
                        rows.getLong(1),
                        Instant.ofEpochMilli(rows.getLong(2)),
                        Session.text(rows, 3),
                        Session.text(rows, 4),
                        Session.text(rows, 5),
                        JsonColumn.object(Session.text(rows, 6))),
                "SELECT audit_no, made_ms, caller, operation, outcome, detail FROM kg_audit"
                        + " WHERE space = ? AND audit_no > ?" + (caller == null ? "" : " AND caller = ?")
                        + " ORDER BY audit_no LIMIT ?",
                caller == null
                        ? new Object[] {space.number(), after, limit}
                        : new Object[] {space.number(), after, caller, limit});
    }
}
