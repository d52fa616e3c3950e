package dev.parley.knowledge;

import static dev.parley.knowledge.AuditEntries.entry;
import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.Updates.Outcome;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.journal.Changes;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.Erasure;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.protocol.CallContext;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditTrail;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Exports and erases the data of a principal in the graphs. Safe for any thread. */
final class GraphPersonalData {
    private final SqlStatementStore tables;
    private final GraphStore statements;
    private final ChangeStore journal;
    private final AuditTrail trail;
    private final GroupSettings settings;
    private final Subscriptions subscriptions;

    GraphPersonalData(
            SqlStatementStore tables,
            GraphStore statements,
            ChangeStore journal,
            AuditTrail trail,
            GroupSettings settings,
            Subscriptions subscriptions) {
        this.tables = tables;
        this.statements = statements;
        this.journal = journal;
        this.trail = trail;
        this.settings = settings;
        this.subscriptions = subscriptions;
    }

    /** As {@link Graph#saidBy}. */
    StatementPage<Statement> saidBy(String group, String name, @Nullable String after, int limit) {
        return QueryErrors.mapped(() -> statements.view(group, ReadFilter.NONE, PATIENCE, view -> {
            StatementPage<Fact> page = view.saidBy(name, after, limit);
            return new StatementPage<>(
                    page.items().stream().map(Fact::statement).toList(), page.next());
        }));
    }

    /** As {@link Graph#reviewsOf}. */
    StatementPage<Review> reviewsOf(String group, String name, @Nullable String after, int limit) {
        long from = after == null ? 0 : Review.number(after);
        return tables.ask(group, PATIENCE, (session, space) -> journal.reviews().of(session, space, name, from, limit));
    }

    /** As {@link Graph#erase}. */
    Graph.Erased erase(String name, boolean withStatements, CallContext by) {
        Resource.of(name); // so that it can be one
        String group = by.scope().group();
        var terms = new LinkedHashSet<Long>();
        int taken = withStatements ? withdraw(name, by, terms) : 0;
        if (withStatements) {
            if (tables.shared().isShared()) {
                erase(group, (writing, session) -> name); // subscribers of other hubs see the removals first
            }
            forgetChanges(group);
        }
        int rows = eraseName(group, name, terms);
        return new Graph.Erased(taken, rows);
    }

    /** @param terms that may be unused now */
    private int eraseName(String group, String name, Set<Long> terms) {
        // Rules first: otherwise statements that they hide would be visible while their source changes.
        erase(group, (writing, session) -> {
            GroupSettings.hashSource(writing, name);
            return name;
        });
        var unused = new LinkedHashSet<>(terms);
        try {
            var erasure = new Erasure(tables, group);
            int rows = erasure.name(name);
            rows += statements.rewrite(group, List.of(name), erasure.withoutName(name));
            Optional<Long> number = tables.database()
                    .read(session -> Optional.ofNullable(tables.terms().find(session, name)));
            if (number.isPresent()) {
                long from = number.get();
                long to = erase(group, (writing, session) -> writing.number(AuditChain.hashed(name)));
                rows += erasure.source(from, AuditChain.hashed(name));
                unused.addAll(List.of(from, to));
            }
            return rows;
        } finally {
            // In one transaction, for a term that another write names again must not be removed. What is remembered is
            // read again.
            forgetAfter(group, () -> tables.eraseUnused(group, unused));
        }
    }

    /** Removes the existing changes of a group in small transactions; from the first one on, subscribers that resume start anew. */
    private void forgetChanges(String group) {
        long space = tables.space(group).number();
        long last = erase(group, (writing, session) -> Changes.forgetUpTo(session, space, writing.revision()));
        journal.removeForgotten(space, last, true);
    }

    /** Erases on disk and in memory; there also if the commit failed, for it may have been done. */
    private <T> T erase(String group, SqlStatementStore.TableChange<T> change) {
        return forgetAfter(group, () -> tables.erase(group, change));
    }

    private <T> T forgetAfter(String group, Supplier<T> erasure) {
        try {
            return erasure.get();
        } finally {
            settings.forgetRules(group);
            subscriptions.forget(group);
        }
    }

    /** Removes the statements of a principal, and collects their terms. */
    private int withdraw(String name, CallContext by, Set<Long> terms) {
        String group = by.scope().group();
        Alignment alignment = settings.rules(group); // here, because the writer must not wait for a reader
        var update = new Update(List.of(), null, null, null, null, null, Map.of());
        int taken = 0;
        String after = null;
        do {
            StatementPage<Statement> said = saidBy(group, name, after, KnowledgeOperation.MAX_MUTATIONS);
            after = said.next();
            Outcome done = statements.transact(
                    group,
                    writing -> {
                        writing.record(rows -> {
                            for (Statement one : said.items()) {
                                SqlWriting.Key key = rows.key(one);
                                terms.add(key.s());
                                terms.add(key.o());
                            }
                        });
                        Outcome outcome = new Updates(journal, alignment, Updates.UNCHECKED, by, update, null)
                                .withdraw(writing, said.items(), name);
                        writing.record(rows -> trail.add(
                                rows.session(),
                                entry(
                                        by,
                                        "knowledge.updated",
                                        group,
                                        "",
                                        Verification.VERIFIED,
                                        Map.of("mutations", 0))));
                        return outcome;
                    },
                    outcome -> subscriptions.publish(group, outcome));
            taken += requireNonNull(done.result().statementsAffected());
        } while (after != null);
        return taken;
    }

    /** As {@link Graph#unlink}. */
    void unlink(Collection<String> ids, CallContext by) {
        String group = by.scope().group();
        erase(group, (writing, session) -> ids); // after all that was submitted before
        try {
            var erasure = new Erasure(tables, group);
            erasure.links(ids);
            statements.rewrite(group, Erasure.withHashes(ids), Erasure.withoutLinks(ids));
        } finally {
            erase(group, (writing, session) -> ids); // what is remembered is read again
        }
    }
}
