package dev.parley.knowledge;

import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.changes.RecentChanges;
import dev.parley.knowledge.graphql.GraphQlQueries;
import dev.parley.knowledge.graphql.GraphQlSubscription;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Subscriptions to changes of the graphs, and their limits. Safe for any thread. */
final class Subscriptions implements GroupListener {
    /** Subscriptions that an owner may have at a time. */
    private static final int MAX_SUBSCRIPTIONS = 100;

    private static final int SNAPSHOT_PAGE = 256;

    /** Changes of other hubs that are read in one go. Subscribers read more than that from the table. */
    private static final int MAX_BEHIND = 1_000;

    private static final Logger LOG = System.getLogger("dev.parley.knowledge");
    private static final String AFTER = "afterChangeId";

    private final SqlStatementStore tables;
    private final GraphStore statements;
    private final ChangeStore journal;
    private final GroupSettings settings;
    private final @Nullable GraphQlQueries graphql;
    private final Map<String, RecentChanges> feeds = new ConcurrentHashMap<>();
    private final Set<String> watched = ConcurrentHashMap.newKeySet();
    private final Map<CallContext.Scope, Integer> places = new ConcurrentHashMap<>();
    /** Subscriptions that are open, by group. */
    private final Map<String, Integer> watching = new ConcurrentHashMap<>();

    private final AtomicBoolean willLook = new AtomicBoolean();

    Subscriptions(
            SqlStatementStore tables,
            GraphStore statements,
            ChangeStore journal,
            GroupSettings settings,
            @Nullable GraphQlQueries graphql) {
        this.tables = tables;
        this.statements = statements;
        this.journal = journal;
        this.settings = settings;
        this.graphql = graphql;
        tables.database().listen(this);
        tables.shared().onChange(session -> refresh());
        tables.shared().follow(this::look);
    }

    /**
     * Opens a subscription.
     *
     * @throws A2AException ALIGNMENT_VIOLATION if a rule forbids it, KNOWLEDGE_SUBSCRIPTION if the caller has too many
     *     subscriptions, or the changes from which it resumes are forgotten
     */
    Feed<Change> watch(Subscribe subscription, CallContext context) {
        String group = context.scope().group();
        Libraries.require("subscriptionLanguage", KnowledgeOperation.Query.GRAPHQL);
        GraphQlQueries queries = requireNonNull(graphql);
        GraphQlSubscription prepared =
                mapped(() -> tables.compute(group, PATIENCE, () -> queries.prepare(subscription)));
        settings.rules(group).requireAllowed(On.SUBSCRIBE, context.caller(), () -> prepared.filter()::names);
        RecentChanges feed = feed(group);
        takePlace(context);
        boolean watching = false;
        try {
            if (tables.shared().isShared()) {
                lookSoon(); // nothing was shown to it while it had no subscriber
            }
            long position = begin(subscription, group);
            boolean resumes = subscription.metadata().get(AFTER) != null;
            var source = new Watching.Source(
                    feed,
                    (number, limit) -> backlog(group, number, limit),
                    () -> settings.rules(group),
                    (id, reader) -> types(group, id, reader));
            Watching.Snapshot snapshot = isTrue(subscription, "snapshot") && !resumes
                    ? cursor -> snapshot(context, prepared.filter().pattern(), position, cursor)
                    : null;
            var changes = new Watching(
                    source,
                    context.caller(),
                    prepared,
                    isTrue(subscription, "includeProjection") ? (of, change) -> project(context, of, change) : null,
                    new Watching.Start(snapshot, position, tables.space(group).changeId(position)),
                    () -> leavePlace(context));
            watching = true;
            return changes;
        } finally {
            if (!watching) {
                leavePlace(context);
            }
        }
    }

    private static boolean isTrue(Subscribe subscription, String name) {
        return Boolean.TRUE.equals(subscription.metadata().get(name));
    }

    /** Returns the change after which a reader begins. */
    private long begin(Subscribe subscription, String group) {
        Object after = subscription.metadata().get(AFTER);
        if (after == null) {
            return tables.lookUp(group, ReadFilter.NONE, View::revision);
        }
        long number = numbered(group, after.toString());
        backlog(group, number, 1);
        return number;
    }

    /** Returns the statements visible to a subscription, without changes after {@code position}. */
    private StatementPage<Change> snapshot(
            CallContext context, Pattern pattern, long position, @Nullable String cursor) {
        String group = context.scope().group();
        ReadFilter readFilter = settings.rules(group).readFilter(On.SUBSCRIBE, context.caller());
        return mapped(() -> statements.view(group, readFilter, PATIENCE, view -> {
            StatementPage<Fact> page = view.statements(pattern, cursor, SNAPSHOT_PAGE);
            List<Change> held = page.items().stream()
                    .map(Subscriptions::held)
                    .filter(change -> numbered(group, change.changeId()) <= position)
                    .toList();
            return new StatementPage<>(held, page.next());
        }));
    }

    private static Change held(Fact fact) {
        Object id = fact.statement().provenance().get("changeId");
        return new Change(
                Patch.Op.ADD, fact.statement(), String.valueOf(id), fact.confirmedAt(), Map.of("snapshot", true));
    }

    private long numbered(String group, String changeId) {
        try {
            return tables.space(group).changeNumber(changeId);
        } catch (InvalidField field) {
            throw A2AException.invalidParams(field.field(), field.problem());
        }
    }

    private Set<String> types(String group, String id, ReadFilter reader) {
        return statements.lookUp(group, reader, view -> view.types(List.of(id)).getOrDefault(id, Set.of()));
    }

    private static <T> T mapped(Supplier<T> asking) {
        return QueryErrors.mapped(KnowledgeError.KNOWLEDGE_SUBSCRIPTION, asking);
    }

    private List<Numbered> backlog(String group, long after, int limit) {
        return mapped(() -> tables.ask(group, PATIENCE, (session, space) -> {
            if (journal.changes().isForgotten(session, space, after)) {
                throw subscriptionFailed("expired", Map.of("lastChangeId", space.changeId(after)));
            }
            return journal.changes().after(session, space, after, limit);
        }));
    }

    private static A2AException subscriptionFailed(String reason, Map<String, String> more) {
        var detail = new LinkedHashMap<>(more);
        detail.put("reason", reason);
        return A2AException.of(
                KnowledgeError.KNOWLEDGE_SUBSCRIPTION, KnowledgeError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(), detail);
    }

    private Map<String, @Nullable Object> project(
            CallContext context, GraphQlSubscription subscription, Change change) {
        String group = context.scope().group();
        ReadFilter readFilter = settings.rules(group).readFilter(On.SUBSCRIBE, context.caller());
        return mapped(() -> statements.view(group, readFilter, PATIENCE, view -> subscription.project(change, view)));
    }

    /** Returns the feed of a group, which begins with the first subscription. */
    private RecentChanges feed(String group) {
        RecentChanges known = feeds.get(group);
        if (known != null) {
            return known;
        }
        tables.transact(
                group,
                (writing, session) -> {
                    // From here on writers publish to the feed, although it exists only after the commit.
                    watched.add(group);
                    return new RecentChanges(writing.revision(), writing.numberedBefore());
                },
                feed -> feeds.putIfAbsent(group, feed));
        return requireNonNull(feeds.get(group));
    }

    private void takePlace(CallContext context) {
        watching.merge(context.scope().group(), 1, Integer::sum);
        int open = places.merge(context.scope(), 1, Integer::sum);
        if (open > MAX_SUBSCRIPTIONS) {
            leavePlace(context);
            throw A2AException.of(
                    KnowledgeError.KNOWLEDGE_SUBSCRIPTION,
                    KnowledgeError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(),
                    Map.of("reason", "quota", "limit", "" + MAX_SUBSCRIPTIONS),
                    List.of(),
                    Duration.ofSeconds(1));
        }
    }

    private void leavePlace(CallContext context) {
        places.computeIfPresent(context.scope(), (scope, open) -> open == 1 ? null : open - 1);
        String group = context.scope().group();
        int left = watching.merge(group, -1, Integer::sum);
        if (left == 0) {
            watching.remove(group, 0);
            forget(group);
        }
    }

    /** Shows changes that are on disk to subscribers. Without one they are not kept: a later subscriber reads the table. */
    void publish(String group, Updates.Outcome outcome) {
        List<Numbered> changes = outcome.changes();
        boolean isShared = tables.shared().isShared();
        if (isShared && !Integer.valueOf(0).equals(outcome.result().statementsAffected())) {
            tables.shared().tell();
        }
        RecentChanges feed = feeds.get(group);
        if (feed == null || changes.isEmpty()) {
            return;
        }
        if (!watching.containsKey(group)) {
            feed.catchUp(changes.getLast().number());
        } else if (!isShared) {
            feed.publish(changes);
        } else if (!feed.publish(outcome.before(), changes)) {
            lookSoon();
        }
    }

    // ---- Changes of other hubs

    private void lookSoon() {
        if (willLook.compareAndSet(false, true)) {
            Thread.ofVirtual().name("knowledge-feed").start(() -> {
                willLook.set(false); // what comes from here on leads to another look
                try {
                    look();
                } catch (RuntimeException later) {
                    LOG.log(Level.DEBUG, "changes of other hubs are read with the next renewal of the lease", later);
                }
            });
        }
    }

    /** Shows changes of other hubs to subscribers, in the order of their numbers. Two threads may look at once. */
    private void look() {
        var groups = new HashMap<Long, String>();
        watching.keySet().forEach(group -> groups.put(tables.space(group).number(), group));
        tables.newest(groups.keySet()).forEach((space, newest) -> {
            String group = requireNonNull(groups.get(space));
            RecentChanges feed = feeds.get(group);
            if (feed != null && feed.known() < newest) {
                look(group, feed, newest);
            }
        });
    }

    private void look(String group, RecentChanges feed, long newest) {
        for (long known = feed.known(); known < newest; known = feed.known()) {
            long turn = feed.turn();
            if (newest - known > MAX_BEHIND) {
                feed.catchUp(tables.lookUp(group, ReadFilter.NONE, View::revision));
            }
            List<Numbered> changes = tables.lookUp(
                    group, (session, space) -> journal.changes().after(session, space, feed.known(), MAX_BEHIND));
            feed.publishRead(turn, changes, changes.isEmpty() ? newest : 0);
        }
    }

    /** Has all subscribers check their permissions, and read from the table: another hub has changed or erased something. */
    private void refresh() {
        feeds.values().forEach(feed -> {
            feed.forget();
            feed.wake();
        });
    }

    // ---- Feeds

    /** True if changes of a group have to be published. */
    boolean isWatched(String group) {
        return watched.contains(group);
    }

    /** Has all subscribers of a group check their permissions again. */
    void wake(String group) {
        RecentChanges feed = feeds.get(group);
        if (feed != null) {
            feed.wake();
        }
    }

    /** Publishes changes of a commit that is on disk although it was reported as failed. */
    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        for (var feed : feeds.entrySet()) {
            feed.getValue()
                    .catchUp(session.number(
                            "SELECT coalesce((SELECT max(change_no) FROM kg_change c WHERE c.space = k.space), forgotten)"
                                    + " FROM kg_space k WHERE group_id = ?",
                            feed.getKey()));
        }
    }

    /** Drops the recent changes that are kept in memory for subscribers. */
    void forget(String group) {
        RecentChanges feed = feeds.get(group);
        if (feed != null) {
            feed.forget();
        }
    }
}
