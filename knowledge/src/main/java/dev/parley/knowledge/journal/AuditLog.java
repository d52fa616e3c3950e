package dev.parley.knowledge.journal;

import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.Space;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
import dev.parley.store.database.Session;
import dev.parley.store.database.Work;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Log of queries and updates of the graphs, with their results. Has a retention, unlike the {@link AuditTrail} of
 * changes. Safe for any thread.
 */
public final class AuditLog {
    private static final System.Logger LOG = System.getLogger("dev.parley.knowledge");

    /** Limit of entries that wait for the disk; beyond it new queries are refused. */
    public static final int MAX_NOTES = 1_024;

    /** Limit of a caller's text in an entry, in characters. */
    private static final int MAX_TEXT = 500;

    private final SqlStatementStore statements;
    private final Journal journal;
    private final InstantSource clock;
    private final ConcurrentHashMap<String, Integer> waiting = new ConcurrentHashMap<>();
    private final AtomicInteger waitingInAll = new AtomicInteger();
    private volatile boolean open = true;

    public AuditLog(SqlStatementStore statements, Journal journal, InstantSource clock) {
        this.statements = statements;
        this.journal = journal;
        this.clock = clock;
    }

    /**
     * Runs a query and records it.
     *
     * @throws A2AException KNOWLEDGE_QUERY with the reason {@code busy} if too many entries of the group wait for the disk
     */
    public <T> T audited(String operation, CallContext context, String query, Supplier<T> asking) {
        requireRoom(context, KnowledgeError.KNOWLEDGE_QUERY);
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

    /**
     * Refuses a call of a group with too many entries that wait for the disk: its limit is 7/8 of the places that other
     * groups do not use.
     *
     * @throws A2AException {@code error} with the reason {@code busy}
     */
    public void requireRoom(CallContext context, ErrorKind error) {
        int own = waiting.getOrDefault(context.scope().group(), 0);
        int left = MAX_NOTES - (waitingInAll.get() - own);
        if (own >= left - left / 8) {
            throw QueryErrors.busy(error);
        }
    }

    private void count(String group, int more) {
        waitingInAll.addAndGet(more);
        waiting.merge(group, more, (before, change) -> before + change == 0 ? null : before + change);
    }

    /** Records a call in the transaction of the session. On the writer thread. */
    public void add(
            Session session,
            Space space,
            String operation,
            CallContext context,
            String outcome,
            Map<String, @Nullable Object> detail)
            throws SQLException {
        journal.audit(session, space, clock.millis(), context.caller(), operation, outcome, detail);
    }

    /** Records a call that has ended, without blocking its caller. Calls that have begun have a reserved place. */
    public void note(String operation, CallContext context, String outcome, Map<String, @Nullable Object> detail) {
        if (!open) {
            return;
        }
        String group = context.scope().group();
        Space known = statements.space(group);
        count(group, 1);
        statements.database().submit(new Work() {
            @Override
            public void write(Session session) throws SQLException {
                Space space = known.isEmpty() ? statements.load(session, group) : known;
                add(session, space, operation, context, outcome, detail);
            }

            @Override
            public String group() {
                return group;
            }

            @Override
            public void committed() {
                count(group, -1);
            }

            @Override
            public void failed(Exception cause) {
                count(group, -1);
                LOG.log(System.Logger.Level.ERROR, "an entry of the audit could not be written", cause);
            }
        });
    }

    /** Returns the logged members of an update. */
    public static Map<String, @Nullable Object> detail(Update update) {
        var detail = new LinkedHashMap<String, @Nullable Object>();
        detail.put("mutations", update.mutations().size());
        put(detail, "sourceAgentId", update.sourceAgentId());
        put(detail, "justification", update.justification());
        put(detail, "taskId", update.taskId());
        return detail;
    }

    /** Adds the beginning of a text by a caller, unless it is null. */
    static void put(Map<String, @Nullable Object> detail, String name, @Nullable String said) {
        if (said != null) {
            detail.put(name, beginning(said));
        }
    }

    private static String beginning(String text) {
        return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT) + "…";
    }

    /** Returns the audit entry of a call. */
    public static Entry entry(
            CallContext context,
            String action,
            String target,
            String subject,
            String outcome,
            Map<String, @Nullable Object> detail) {
        return new Entry(
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

    /** Ends the recording. */
    public void close() {
        open = false;
    }
}
