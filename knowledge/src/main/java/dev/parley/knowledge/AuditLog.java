package dev.parley.knowledge;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.store.AuditTrail;
import dev.parley.store.Database;
import dev.parley.store.Database.Session;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What was asked of the graphs, questions included, and what came of it. Not for ever, unlike the {@link AuditTrail} of
 * what changed them. Safe for any thread.
 */
final class AuditLog {
    private static final System.Logger LOG = System.getLogger("dev.parley.knowledge");

    /** Entries that wait for the disk; who asks more has to wait with them. */
    static final int MAX_NOTES = 1_024;

    /** Characters that are kept of what somebody has written. */
    private static final int MAX_TEXT = 500;

    private final SqlStatementStore statements;
    private final Journal journal;
    private final InstantSource clock;
    private final Semaphore notes = new Semaphore(MAX_NOTES);
    private volatile boolean open = true;

    AuditLog(SqlStatementStore statements, Journal journal, InstantSource clock) {
        this.statements = statements;
        this.journal = journal;
        this.clock = clock;
    }

    /** Asks something of a graph, and notes that it was asked. */
    <T> T audited(String operation, CallContext context, String query, Supplier<T> asking) {
        String outcome = "ok";
        try {
            return asking.get();
        } catch (RuntimeException | Error refused) {
            outcome = A2AError.of(refused).name();
            throw refused;
        } finally {
            note(operation, context, outcome, Map.of("query", beginning(query)));
        }
    }

    /** Notes what happens in the transaction of the session. On the writer thread. */
    void add(
            Session session,
            Space space,
            String operation,
            CallContext context,
            String outcome,
            Map<String, @Nullable Object> detail)
            throws SQLException {
        journal.audit(session, space, clock.millis(), context.caller(), operation, outcome, detail);
    }

    /** Notes what has happened, without keeping the caller waiting for the disk. */
    void note(String operation, CallContext context, String outcome, Map<String, @Nullable Object> detail) {
        if (!open) {
            return;
        }
        Space space = statements.space(context.scope().group());
        notes.acquireUninterruptibly();
        statements.database().submit(new Database.Work() {
            @Override
            public void write(Session session) throws SQLException {
                add(session, space, operation, context, outcome, detail);
            }

            @Override
            public String group() {
                return context.scope().group();
            }

            @Override
            public void committed() {
                notes.release();
            }

            @Override
            public void failed(Exception cause) {
                notes.release();
                LOG.log(System.Logger.Level.ERROR, "an entry of the audit could not be written", cause);
            }
        });
    }

    /** What is noted of an update. */
    static Map<String, @Nullable Object> detail(Update update) {
        var detail = new LinkedHashMap<String, @Nullable Object>();
        detail.put("mutations", update.mutations().size());
        put(detail, "sourceAgentId", update.sourceAgentId());
        put(detail, "justification", update.justification());
        put(detail, "taskId", update.taskId());
        return detail;
    }

    /** Adds the beginning of what somebody has said, if they have. */
    static void put(Map<String, @Nullable Object> detail, String name, @Nullable String said) {
        if (said != null) {
            detail.put(name, beginning(said));
        }
    }

    private static String beginning(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
    }

    /** What the trail is told of a call. */
    static AuditTrail.Entry entry(
            CallContext context,
            String action,
            String target,
            String subject,
            String outcome,
            Map<String, @Nullable Object> detail) {
        return new AuditTrail.Entry(
                context.scope().group(),
                context.caller(),
                action,
                target,
                subject,
                outcome,
                context.address(),
                requireNonNullElse(context.traceparent(), ""),
                detail);
    }

    /** Notes nothing any more. */
    void close() {
        open = false;
    }
}
