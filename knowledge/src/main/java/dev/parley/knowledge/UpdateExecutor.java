package dev.parley.knowledge;

import static dev.parley.knowledge.AuditEntries.entry;
import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.Updates.Outcome;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.changes.Proposal;
import dev.parley.knowledge.changes.ReadSet;
import dev.parley.knowledge.changes.RecentWrites;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.journal.QueryLog;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.sparql.ShaclShapes;
import dev.parley.knowledge.sparql.Sparql;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Executes updates: rules, changes, journal entries and notifications of an update are one transaction. Safe for any
 * thread.
 */
final class UpdateExecutor {
    /** Attempts to compute an update while concurrent updates change the statements that it read. */
    private static final int ATTEMPTS = 5;

    private final SqlStatementStore tables;
    private final GraphStore statements;
    private final ChangeStore journal;
    private final AuditTrail trail;
    private final GroupSettings settings;
    private final Subscriptions subscriptions;
    private final QueryLog log;

    /**
     * Locks by group, as long as an update holds or waits for them. Updates that are checked against shapes share the lock; an update
     * that conflicted with another holds it exclusively.
     */
    private final LoadingCache<String, ReadWriteLock> checking =
            Caffeine.newBuilder().weakValues().build(group -> new ReentrantReadWriteLock());

    UpdateExecutor(
            SqlStatementStore tables,
            GraphStore statements,
            ChangeStore journal,
            AuditTrail trail,
            GroupSettings settings,
            Subscriptions subscriptions,
            QueryLog log) {
        this.tables = tables;
        this.statements = statements;
        this.journal = journal;
        this.trail = trail;
        this.settings = settings;
        this.subscriptions = subscriptions;
        this.log = log;
    }

    /** As {@link Graph#update}. */
    UpdateResult update(Update update, CallContext context) {
        log.requireRoom(context, KnowledgeError.KNOWLEDGE_UPDATE);
        if (update.sparql() != null) {
            return sparql(update, context);
        }
        return make(update, context, null).result();
    }

    /** Update that waited for review, with its approver. */
    private record Approval(
            long number, CallContext by, @Nullable String remark) {}

    private Outcome make(Update update, CallContext context, @Nullable Approval approval) {
        String group = context.scope().group();
        Alignment alignment = settings.rules(group);
        try {
            // Here, because the writer must not wait for a reader.
            Optional<ShaclShapes> shapes =
                    QueryErrors.mapped(KnowledgeError.KNOWLEDGE_UPDATE, () -> settings.shapes(group));
            return shapes.isEmpty()
                    ? write(update, context, alignment, approval, Updates.UNCHECKED)
                    : checked(shapes.get(), update, context, alignment, approval);
        } catch (Updates.Refused refused) {
            noteRefused(context, update, outcome(refused.result()), approval);
            return Outcome.of(refused.result());
        } catch (A2AException refused) {
            noteRefused(context, update, refused.error().name(), approval);
            throw refused;
        } catch (KnowledgeStoreException failure) {
            throw QueryErrors.of(KnowledgeError.KNOWLEDGE_UPDATE, failure);
        }
    }

    /** Executes an update; violated constraints roll it back. */
    private Outcome write(
            Update update,
            CallContext context,
            Alignment alignment,
            @Nullable Approval approval,
            Updates.Constraints constraints) {
        String group = context.scope().group();
        String approvedBy = approval == null ? null : approval.by().caller();
        return statements.transact(
                group,
                writing -> {
                    Outcome outcome =
                            new Updates(journal, alignment, constraints, context, update, approvedBy).make(writing);
                    String status = outcome(outcome.result());
                    writing.record(rows -> {
                        if (approval != null && outcome.result().success()) {
                            decide(
                                    rows,
                                    approval.number(),
                                    Review.State.APPROVED,
                                    approval.by().caller(),
                                    approval.remark());
                        }
                        trail.add(rows.session(), changed(context, update, status, approval));
                    });
                    return outcome;
                },
                outcome -> subscriptions.publish(group, outcome));
    }

    // ---- Shapes

    /** Rolls back an update that needs validation, and carries its effect. */
    private static final class Unchecked extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Proposal effect;

        Unchecked(Proposal effect) {
            super("not checked yet", null, false, false);
            this.effect = effect;
        }
    }

    /** Rolls back a validated update whose effect, or whose validated statements, have changed since. */
    private static final class Outdated extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Outdated() {
            super("changed since it was checked", null, false, false);
        }
    }

    /**
     * Executes an update that shapes validate. Validation on the writer would hold every other write. So the writer applies
     * the update, returns its effect and rolls it back; the effect is validated against a snapshot on the threads that groups
     * share; then the writer applies it again unless statements that the validation read have changed.
     */
    private Outcome checked(
            ShaclShapes shapes, Update update, CallContext context, Alignment alignment, @Nullable Approval approval) {
        String group = context.scope().group();
        ReadWriteLock lock = checking.get(group);
        for (int attempt = 1; ; attempt++) {
            Lock turn = attempt == 1 ? lock.readLock() : lock.writeLock();
            acquire(turn);
            try {
                return checkedOnce(shapes, update, context, alignment, approval);
            } catch (Outdated another) {
                if (attempt == ATTEMPTS) {
                    throw A2AException.of(
                            KnowledgeError.KNOWLEDGE_UPDATE,
                            KnowledgeError.KNOWLEDGE_UPDATE.defaultMessage(),
                            Map.of("reason", "conflict"));
                }
            } finally {
                turn.unlock();
            }
        }
    }

    private static void acquire(Lock turn) {
        try {
            if (!turn.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw QueryErrors.busy(KnowledgeError.KNOWLEDGE_UPDATE);
            }
        } catch (InterruptedException stopped) {
            throw SqlStatementStore.interrupted();
        }
    }

    private Outcome checkedOnce(
            ShaclShapes shapes, Update update, CallContext context, Alignment alignment, @Nullable Approval approval) {
        String group = context.scope().group();
        try (RecentWrites.Mark recent = tables.recent().mark(group)) {
            var before = new Moment(group, recent);
            Proposal effect;
            try {
                return write(update, context, alignment, approval, (writing, made) -> {
                    before.set(writing);
                    throw new Unchecked(made.get());
                });
            } catch (Unchecked undone) {
                effect = undone.effect;
            }
            var read = new ReadSet();
            List<String> violations = violations(shapes, effect, context, alignment, read);
            if (!violations.isEmpty()) {
                if (before.isTouched(read)) {
                    throw new Outdated();
                }
                throw Updates.Refused.by(violations);
            }
            return write(update, context, alignment, approval, (writing, made) -> {
                if (before.isTouched(read, writing) || !made.get().equals(effect)) {
                    throw new Outdated();
                }
            });
        }
    }

    /** A moment between two updates of a group: in the memory of a hub that writes alone, else in the numbers of its changes. */
    private final class Moment {
        private final String group;
        private final RecentWrites.Mark recent;
        private long number;

        Moment(String group, RecentWrites.Mark recent) {
            this.group = group;
            this.recent = recent;
        }

        /** Sets it to the present of an update. On the writer thread. */
        void set(GraphWriting writing) {
            recent.set();
            number = writing.numberedBefore();
        }

        /** True if something of {@code read} may have changed since, before an update. Its commit is the one behind that. */
        boolean isTouched(ReadSet read, GraphWriting writing) {
            return isShared()
                    ? writing.ask((session, space) ->
                            journal.changes().mayTouch(session, space, read, number, writing.numberedBefore()))
                    : recent.isTouched(read);
        }

        /** True if something of {@code read} may have changed since. */
        boolean isTouched(ReadSet read) {
            return isShared()
                    ? tables.lookUp(
                            group,
                            (session, space) -> journal.changes()
                                    .mayTouch(session, space, read, number, SqlStatementStore.newest(session, space)))
                    : recent.isTouched(read);
        }

        private boolean isShared() {
            return tables.shared().isShared();
        }
    }

    private List<String> violations(
            ShaclShapes shapes, Proposal effect, CallContext context, Alignment alignment, ReadSet read) {
        ReadFilter readFilter = alignment.readFilter(On.QUERY, context.caller());
        return QueryErrors.mapped(
                KnowledgeError.KNOWLEDGE_UPDATE,
                () -> statements.view(context.scope().group(), ReadFilter.NONE, PATIENCE, everything -> {
                    View seen = everything.seenBy(readFilter);
                    return shapes.check(everything, seen, effect, PATIENCE, read).stream()
                            .map(one -> one.focusNode() + (one.path() == null ? "" : " " + one.path()) + ": "
                                    + one.message() + " (shape " + one.shape() + ")")
                            .toList();
                }));
    }

    private void noteRefused(CallContext context, Update update, String outcome, @Nullable Approval approval) {
        AuditEntry entry = changed(context, update, outcome, approval);
        log.note(entry.group(), session -> trail.add(session, entry));
    }

    /** Computes a SPARQL update outside of the writer, and executes it if its read statements are unchanged. */
    private UpdateResult sparql(Update update, CallContext context) {
        String text = requireNonNull(update.sparql());
        Libraries.require("sparqlUpdate", Query.SPARQL);
        boolean pinned = update.metadata().containsKey("ifRevision");
        String group = context.scope().group();
        Alignment alignment = settings.rules(group);
        computed(
                update,
                context,
                () -> tables.compute(group, PATIENCE, () -> {
                    alignment.requireAllowed(On.QUERY, context.caller(), () -> Sparql.namedIn(text, PATIENCE));
                    return alignment;
                }));
        // A caller must not copy statements that it may not see to a graph where it may.
        ReadFilter readFilter = alignment.readFilter(On.QUERY, context.caller());
        for (int attempt = 1; ; attempt++) {
            var metadata = new LinkedHashMap<>(update.metadata());
            List<Patch> patches = computed(
                    update,
                    context,
                    () -> statements.view(group, readFilter, PATIENCE, view -> {
                        if (!pinned) {
                            metadata.put("ifRevision", view.revision());
                        }
                        return Sparql.patches(view, text, null, PATIENCE);
                    }));
            var plain = new Update(
                    patches,
                    null,
                    update.sourceAgentId(),
                    update.justification(),
                    update.taskId(),
                    update.sessionId(),
                    metadata);
            try {
                return make(plain, context, null).result();
            } catch (A2AException refused) {
                boolean conflict = "conflict".equals(refused.metadata().get("reason"));
                if (pinned || !conflict || attempt == ATTEMPTS) {
                    throw refused;
                }
            }
        }
    }

    /** Runs the part of an update before its transaction, and records a refusal there too. */
    private <T> T computed(Update update, CallContext context, Supplier<T> work) {
        try {
            return QueryErrors.mapped(KnowledgeError.KNOWLEDGE_UPDATE, work);
        } catch (A2AException refused) {
            noteRefused(context, update, refused.error().name(), null);
            throw refused;
        }
    }

    /** As {@link Graph#load}. */
    int load(List<Statement> batch, CallContext context, @Nullable String source) {
        String group = context.scope().group();
        var update = new Update(List.of(), null, source, null, null, null, Map.of());
        Outcome done = statements.transact(
                group,
                writing -> {
                    Outcome outcome = new Updates(journal, Alignment.NONE, Updates.UNCHECKED, context, update, null)
                            .load(writing, batch, subscriptions.isWatched(group));
                    Map<String, @Nullable Object> detail = Map.of("statements", batch.size());
                    writing.record(rows -> {
                        trail.add(rows.session(), entry(context, "knowledge.imported", group, "", "ok", detail));
                    });
                    return outcome;
                },
                outcome -> subscriptions.publish(group, outcome));
        return requireNonNull(done.result().statementsAffected());
    }

    /** As {@link Graph#approve}. */
    UpdateResult approve(String id, @Nullable String remark, CallContext reviewer) {
        Review review = pending(id, reviewer);
        var context = CallContext.of(review.caller(), reviewer.scope());
        return make(review.update(), context, new Approval(Review.number(id), reviewer, remark))
                .result();
    }

    /** As {@link Graph#reject}. */
    void reject(String id, @Nullable String remark, CallContext reviewer) {
        pending(id, reviewer);
        tables.transact(
                reviewer.scope().group(),
                (writing, session) -> {
                    decide(writing, Review.number(id), Review.State.REJECTED, reviewer.caller(), remark);
                    trail.add(session, entry(reviewer, "knowledge.rejected", id, "", "ok", Map.of()));
                    return id;
                },
                done -> {});
    }

    private Review pending(String id, CallContext reviewer) {
        Optional<Review> review = tables.ask(
                reviewer.scope().group(),
                PATIENCE,
                (session, space) -> journal.reviews().find(session, space, Review.number(id)));
        return review.filter(one -> one.state() == Review.State.PENDING).orElseThrow(() -> notWaiting(id));
    }

    /** Records a decision, unless another one was made meanwhile; then the transaction is rolled back. */
    private void decide(SqlWriting writing, long number, Review.State state, String by, @Nullable String remark)
            throws SQLException {
        if (!journal.reviews().decide(writing, number, state, by, remark)) {
            throw notWaiting(Long.toString(number));
        }
    }

    private static A2AException notWaiting(String id) {
        return A2AException.invalidParams("id", id + " (expected: the number of an update that waits)");
    }

    /** Returns the audit entry of an update. */
    private static AuditEntry changed(CallContext context, Update update, String outcome, @Nullable Approval approval) {
        var detail = new LinkedHashMap<String, @Nullable Object>();
        detail.put("mutations", update.mutations().size());
        put(detail, "sourceAgentId", update.sourceAgentId());
        put(detail, "justification", update.justification());
        put(detail, "taskId", update.taskId());
        if (approval == null) {
            return entry(context, "knowledge.updated", context.scope().group(), "", outcome, detail);
        }
        String id = Long.toString(approval.number());
        String subject = context.scope().group() + "/" + context.caller();
        return entry(approval.by(), "knowledge.approved", id, subject, outcome, detail);
    }

    private static void put(Map<String, @Nullable Object> detail, String name, @Nullable String text) {
        if (text != null) {
            detail.put(name, QueryLog.beginning(text));
        }
    }

    private static String outcome(UpdateResult result) {
        return requireNonNull(result.verificationStatus());
    }
}
