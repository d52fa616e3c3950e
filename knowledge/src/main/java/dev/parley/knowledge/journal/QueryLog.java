package dev.parley.knowledge.journal;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.support.FairShare;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the records of calls that change no statement: queries to their log, and refused updates to the audit trail, where
 * changes have their rows. Safe for any thread.
 */
public final class QueryLog {
    private static final System.Logger LOG = System.getLogger("dev.parley.knowledge");

    /** Limit of entries that wait for the disk; beyond it new calls are refused. */
    public static final int MAX_NOTES = 1_024;

    /** Limit of a caller's text in an entry, in characters. */
    private static final int MAX_TEXT = 500;

    private final SqlStatementStore statements;
    private final Sweep sweep;
    private final InstantSource clock;
    private final FairShare places = FairShare.sevenEighths(MAX_NOTES);
    private final ReentrantLock lock = new ReentrantLock(); // of the places
    private volatile boolean open = true;

    public QueryLog(SqlStatementStore statements, ChangeStore journal, InstantSource clock) {
        this.statements = statements;
        this.sweep = journal.sweep();
        this.clock = clock;
    }

    /** Rows of a call that has ended. On the writer thread. */
    @FunctionalInterface
    public interface Recording {
        void write(DatabaseSession session) throws SQLException;
    }

    /**
     * Runs a query and records it.
     *
     * @throws dev.parley.protocol.A2AException KNOWLEDGE_QUERY with the reason {@code busy} if too many entries of the group
     *     wait for the disk
     */
    public <T> T logged(
            String operation, CallContext context, KnowledgeOperation call, String query, Supplier<T> asking) {
        requireRoom(context, KnowledgeError.KNOWLEDGE_QUERY);
        String group = context.scope().group();
        GroupCache known = statements.space(group);
        String outcome = "ok";
        try {
            return asking.get();
        } catch (RuntimeException | Error refused) {
            outcome = A2AError.of(refused).name();
            throw refused;
        } finally {
            String result = outcome;
            note(group, session -> {
                GroupCache space = known.isEmpty() ? statements.load(session, group) : known;
                write(session, space, clock.millis(), context.caller(), operation, result, detail(call, query));
            });
        }
    }

    /**
     * Refuses a call of a group with too many entries that wait for the disk: its limit is 7/8 of the places that other
     * groups do not use.
     *
     * @throws dev.parley.protocol.A2AException {@code error} with the reason {@code busy}
     */
    public void requireRoom(CallContext context, ErrorKind error) {
        lock.lock();
        try {
            if (!places.hasRoom(context.scope().group())) {
                throw QueryErrors.busy(error);
            }
        } finally {
            lock.unlock();
        }
    }

    private void take(String group) {
        lock.lock();
        try {
            places.take(group);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(String group) {
        lock.lock();
        try {
            places.giveBack(group);
        } finally {
            lock.unlock();
        }
    }

    /** Records a call that has ended, without blocking its caller. Calls that have begun have a reserved place. */
    public void note(String group, Recording recording) {
        if (!open) {
            return;
        }
        take(group);
        statements.database().submit(new Work() {
            @Override
            public void write(DatabaseSession session) throws SQLException {
                recording.write(session);
            }

            @Override
            public String group() {
                return group;
            }

            @Override
            public void committed() {
                giveBack(group);
            }

            @Override
            public void failed(Exception cause) {
                giveBack(group);
                LOG.log(System.Logger.Level.ERROR, "the record of a call could not be written", cause);
            }
        });
    }

    /** The beginning of a query, and the task and session that its caller names. */
    private static Map<String, Object> detail(KnowledgeOperation call, String query) {
        var detail = new LinkedHashMap<String, Object>();
        detail.put("query", beginning(query));
        if (call.taskId() != null) {
            detail.put("taskId", beginning(call.taskId()));
        }
        if (call.sessionId() != null) {
            detail.put("sessionId", beginning(call.sessionId()));
        }
        return detail;
    }

    /** Records a query with its caller and outcome. On the writer thread. */
    private void write(
            DatabaseSession session,
            GroupCache space,
            long nowMs,
            String caller,
            String operation,
            String outcome,
            Map<String, Object> detail)
            throws SQLException {
        sweep.entries(1);
        session.later(
                "INSERT INTO kg_audit (space, made_ms, caller, operation, outcome, detail) VALUES (?, ?, ?, ?, ?, ?)",
                space.number(),
                nowMs,
                caller,
                operation,
                outcome,
                JsonColumn.of(detail));
    }

    /** Returns logged queries after a number, the oldest first; of one caller, unless that is null. */
    public List<LoggedQuery> queries(
            DatabaseSession session, GroupCache space, @Nullable String caller, long after, int limit)
            throws SQLException {
        return session.list(
                rows -> new LoggedQuery(
                        rows.getLong(1),
                        Instant.ofEpochMilli(rows.getLong(2)),
                        DatabaseSession.text(rows, 3),
                        DatabaseSession.text(rows, 4),
                        DatabaseSession.text(rows, 5),
                        JsonColumn.object(DatabaseSession.text(rows, 6))),
                "SELECT audit_no, made_ms, caller, operation, outcome, detail FROM kg_audit"
                        + " WHERE space = ? AND audit_no > ?" + (caller == null ? "" : " AND caller = ?")
                        + " ORDER BY audit_no LIMIT ?",
                caller == null
                        ? new Object[] {space.number(), after, limit}
                        : new Object[] {space.number(), after, caller, limit});
    }

    /** Returns the beginning of a text by a caller, as records have it. */
    public static String beginning(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
    }

    /** Ends the recording. */
    public void close() {
        open = false;
    }
}
