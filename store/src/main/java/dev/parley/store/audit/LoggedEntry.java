package dev.parley.store.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.DatabaseSystem;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the audit that is a reading of the log: a segment that begins a task, moves it to another state, or has a message of a
 * caller.
 *
 * @param number in the audit
 * @param salt of the address in the chain; see {@link AuditTrail}
 * @param events the segment's events as they are stored; empty if they were not asked for
 */
public record LoggedEntry(long number, AuditEntry entry, String salt, byte[] events) {
    private static final String SELECT =
            "SELECT logged.entry_no, group_id, agent, task.task_id, context_id, logged.state, previous, coalesce(logged.caller,"
                    + " task.caller), logged.address, logged.salt, CASE WHEN first_seq = 1 THEN task.trace ELSE logged.trace END,"
                    + " CASE WHEN first_seq = 1 THEN task.agents ELSE logged.agents END,"
                    + " logged.received, logged.sent, %s FROM logged"
                    + " JOIN task ON task.task_id = logged.task_id JOIN lane ON lane.lane_no = task.lane_no"
                    + " WHERE logged.entry_no IS NOT NULL AND ";
    private static final byte[] NO_EVENTS = {};
    private static final String WITH_EVENTS = SELECT.formatted("logged.events");
    private static final String WITHOUT_EVENTS = SELECT.formatted("NULL");

    /** Entry of a segment that changes the state of a task from {@code before}; null for its beginning. */
    public static AuditEntry of(Segment segment, @Nullable TaskState before) {
        TaskKey key = segment.head().key();
        var ids = new TaskIds(
                key.scope().group(), key.agent(), key.taskId(), segment.head().contextId());
        return entry(ids, before, segment.head().state(), segment.cause(), null, null);
    }

    private record TaskIds(String group, String agent, String taskId, String contextId) {}

    /** The actor of an entry: the caller for a cancellation, otherwise the agent, for the caller. */
    private static AuditEntry entry(
            TaskIds ids,
            @Nullable TaskState before,
            TaskState state,
            Cause cause,
            @Nullable String received,
            @Nullable String sent) {
        String group = ids.group();
        String caller = cause.caller();
        String trace = requireNonNullElse(cause.traceparent(), "");
        List<String> agents = cause.chain().agents();
        var detail = new TreeMap<String, Object>(
                before == null
                        ? Map.of("agent", ids.agent(), "contextId", ids.contextId())
                        : Map.of("before", before.name()));
        if (!agents.isEmpty()) {
            detail.put("agents", agents);
        }
        if (received != null) {
            detail.put("messageId", received);
        }
        if (sent != null) {
            detail.put("answerId", sent);
        }
        if (before == null) {
            return new AuditEntry(
                    group, caller, "task.created", ids.taskId(), "", state.name(), cause.address(), trace, detail);
        }
        if (before == state) {
            return new AuditEntry(
                    group, caller, "task.continued", ids.taskId(), "", state.name(), cause.address(), trace, detail);
        }
        return state == TaskState.CANCELED
                ? new AuditEntry(
                        group, caller, "task.canceled", ids.taskId(), "", state.name(), cause.address(), trace, detail)
                : new AuditEntry(
                        group,
                        "agent:" + ids.agent(),
                        "task.moved",
                        ids.taskId(),
                        group + "/" + caller,
                        state.name(),
                        cause.address(),
                        trace,
                        detail);
    }

    /** The entry of a segment; null if it is not one, or was removed. */
    static @Nullable LoggedEntry find(DatabaseSession session, String taskId, long firstSequence, boolean events)
            throws SQLException {
        List<LoggedEntry> found = entries(
                session,
                (events ? WITH_EVENTS : WITHOUT_EVENTS) + "logged.task_id = ? AND first_seq = ?",
                taskId,
                firstSequence);
        return found.isEmpty() ? null : found.getFirst();
    }

    /** Returns the first entries of a task after a number, in the order of their numbers. */
    public static List<LoggedEntry> of(DatabaseSession session, String taskId, long after, int limit, boolean events)
            throws SQLException {
        return entries(
                session,
                (events ? WITH_EVENTS : WITHOUT_EVENTS)
                        + "logged.task_id = ? AND logged.entry_no > ? ORDER BY logged.entry_no LIMIT ?",
                taskId,
                after,
                limit);
    }

    /** Returns the entries of tasks that have no row of their own, in the order of their numbers, with their events. */
    static List<LoggedEntry> withoutRow(DatabaseSession session, DatabaseSystem system, List<String> taskIds)
            throws SQLException {
        return entries(
                session,
                WITH_EVENTS + "logged.task_id" + system.isOneOf() + " AND logged.entry_no > 0"
                        + " AND NOT EXISTS (SELECT 1 FROM audit WHERE row_no = logged.entry_no) ORDER BY logged.entry_no",
                new String(Json.write(taskIds), UTF_8));
    }

    private static List<LoggedEntry> entries(DatabaseSession session, String sql, @Nullable Object... values)
            throws SQLException {
        return session.list(LoggedEntry::read, sql, values);
    }

    private static LoggedEntry read(ResultSet row) throws SQLException {
        int before = row.getInt(7);
        TaskState was = row.wasNull() ? null : States.shown(before);
        String agents = DatabaseSession.text(row, 12);
        CallChain chain = agents == null ? CallChain.NONE : CallChain.read(agents);
        byte[] events = row.getBytes(15);
        return new LoggedEntry(
                row.getLong(1),
                entry(
                        new TaskIds(
                                DatabaseSession.text(row, 2),
                                DatabaseSession.text(row, 3),
                                DatabaseSession.text(row, 4),
                                DatabaseSession.text(row, 5)),
                        was,
                        States.shown(row.getInt(6)),
                        new Cause(
                                DatabaseSession.text(row, 8),
                                DatabaseSession.text(row, 9),
                                DatabaseSession.text(row, 11),
                                chain),
                        DatabaseSession.text(row, 13),
                        DatabaseSession.text(row, 14)),
                DatabaseSession.text(row, 10),
                events == null ? NO_EVENTS : events);
    }
}
