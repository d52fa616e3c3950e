package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.RecentChanges.Numbered;
import dev.parley.knowledge.Updates.Outcome;
import dev.parley.knowledge.spi.Fact;
import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.knowledge.spi.Page;
import dev.parley.knowledge.spi.Pattern;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.QueryResult;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.KnowledgeOperation.UpdateResult;
import dev.parley.protocol.Patch;
import dev.parley.protocol.Statement;
import dev.parley.protocol.Term.Resource;
import dev.parley.store.AuditTrail;
import dev.parley.store.Database;
import dev.parley.store.Database.Session;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.apache.jena.sparql.core.Quad;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graphs of all groups, in one database. Which one is meant says the group of the caller.
 *
 * <p>An update, what those who watch are told of it, its entry in the audit and the key that makes it repeatable are one
 * transaction. Safe for any thread; calls block.
 */
public final class Graph implements KnowledgeEndpoint, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.parley.knowledge");

    private static final Duration PATIENCE = GraphQlLimits.DEFAULTS.time();
    private static final int MAX_SUBSCRIPTIONS = 100;
    private static final int SNAPSHOT_PAGE = 256;
    private static final int CHANGES_AT_ONCE = 1_000;
    private static final int MAX_AUDITED = 500;

    /** Entries of the audit that wait for the disk; who asks more has to wait with them. */
    static final int MAX_NOTES = 1_024;

    /** Changes that a task is shown with. */
    private static final int MAX_SHOWN = 1_000;

    /** How often a SPARQL update is tried again if others change the graph meanwhile. */
    private static final int ATTEMPTS = 5;

    private static final String AFTER = "afterChangeId";
    private static final String RULES = "alignment";
    private static final String SHAPES = "shapes";

    /** Whoever writes waits for it, so it is short. */
    private static final Duration CONSTRAINT_PATIENCE = Duration.ofSeconds(1);

    private final Database database;
    private final boolean ownsDatabase;
    private final InstantSource clock;
    private final SqlStatementStore statements;
    private final Journal journal;
    private final AuditTrail trail;
    private final GraphQlQueries graphql;
    private final Map<String, RecentChanges> feeds = new ConcurrentHashMap<>();
    private final Set<String> watched = ConcurrentHashMap.newKeySet();
    private final Map<String, Alignment> rules = new ConcurrentHashMap<>();
    private final Map<String, Optional<ShaclShapes>> shapes = new ConcurrentHashMap<>();
    private final Map<CallContext.Scope, Integer> subscriptions = new ConcurrentHashMap<>();
    private final Semaphore notes = new Semaphore(MAX_NOTES);
    private volatile boolean open = true;

    private Graph(
            Database database, AuditTrail trail, boolean ownsDatabase, InstantSource clock, Journal.Keeping keeping) {
        this.database = database;
        this.trail = trail;
        this.ownsDatabase = ownsDatabase;
        this.clock = clock;
        this.statements = new SqlStatementStore(database, clock);
        this.journal = new Journal(database, statements.terms(), statements.sql(), keeping);
        this.graphql = new GraphQlQueries(
                statements,
                this::declarations,
                this::changes,
                GraphQlLimits.DEFAULTS,
                clock,
                Thread::startVirtualThread);
    }

    /**
     * Opens the graphs in the SQLite database in {@code directory}, creating both if need be.
     *
     * @throws dev.parley.store.StoreException if another process has it open, or it cannot be read or written
     */
    public static Graph open(Path directory) {
        return alone(Database.open(directory));
    }

    /**
     * Opens the graphs in a PostgreSQL database, version 15 or newer, creating its tables if need be.
     *
     * @throws dev.parley.store.StoreException if another process has it open, or it cannot be read or written
     */
    public static Graph open(DataSource source) {
        return alone(Database.open(source));
    }

    private static Graph alone(Database database) {
        InstantSource clock = InstantSource.system();
        return new Graph(database, AuditTrail.in(database, clock), true, clock, Journal.Keeping.DEFAULTS);
    }

    /**
     * The graphs in a database that is open already, and stays so when they are closed.
     *
     * @param trail of the same database: who changes a graph is in it too
     */
    public static Graph in(Database database, AuditTrail trail, InstantSource clock) {
        return in(database, trail, clock, Journal.Keeping.DEFAULTS);
    }

    /** The same, which forgets sooner or later than others. */
    static Graph in(Database database, AuditTrail trail, InstantSource clock, Journal.Keeping keeping) {
        return new Graph(database, trail, false, clock, keeping);
    }

    @Override
    public List<String> queryLanguages() {
        return List.of(Query.GRAPHQL, Query.SPARQL);
    }

    // ---- Asking

    @Override
    public QueryResult query(Query query, CallContext context) {
        return audited("knowledge/query", context, shown(query.query()), () -> answer(query, context));
    }

    private QueryResult answer(Query query, CallContext context) {
        long began = System.nanoTime();
        String group = context.scope().group();
        Alignment alignment = rules(group);
        alignment.forbids(On.QUERY, context.caller(), named(query)).ifPresent(rule -> {
            throw Updates.forbidden(rule);
        });
        Instant now = clock.instant();
        Floors policy = alignment.floors(On.QUERY, context.caller());
        var floors =
                new Floors(query.requiredCertainty(), since(now, query.maxAge()), policy.rules(), policy.otherwise());
        return reading(() -> switch (query.language()) {
            case Query.GRAPHQL -> {
                GraphQlQueries.Prepared prepared = graphql.prepare(query, group, policy);
                yield statements.read(group, floors, PATIENCE, view -> {
                    GraphQlQueries.Answer answer = prepared.answer(view);
                    return found(answer.data(), answer.truncated(), answer.errors(), view, now, began);
                });
            }
            case Query.SPARQL ->
                statements.read(group, floors, PATIENCE, view -> {
                    Sparql.Answer answer = Sparql.answer(view, query.query(), query.variables(), PATIENCE);
                    return found(answer.data(), answer.truncated(), List.of(), view, now, began);
                });
            default ->
                throw A2AException.invalidParams(
                        "queryLanguage", query.language() + " (expected: one of " + queryLanguages() + ")");
        });
    }

    /** When what is so old was confirmed; null if all may be as old as it is. */
    private static @Nullable Instant since(Instant now, @Nullable Duration maxAge) {
        boolean isBounded = maxAge != null && maxAge.compareTo(Duration.between(Instant.EPOCH, now)) < 0;
        return isBounded ? now.minus(requireNonNull(maxAge)) : null;
    }

    private static QueryResult found(
            Object data, boolean truncated, List<Map<String, Object>> errors, View view, Instant now, long began) {
        View.Hidden hidden = view.hidden();
        var metadata = new LinkedHashMap<String, @Nullable Object>();
        metadata.put("executionMs", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
        metadata.put("asOf", now.toString());
        metadata.put("revision", view.revision());
        metadata.put("sources", List.copyOf(view.sources()));
        metadata.put("hiddenByCertainty", hidden.byCertainty());
        metadata.put("hiddenByAge", hidden.byAge());
        metadata.put("truncated", truncated);
        if (!errors.isEmpty()) {
            metadata.put("errors", errors);
        }
        return new QueryResult(data, metadata);
    }

    private interface Answering<T> {
        T answer();
    }

    /** What goes wrong in the store is told as what it means for a query. */
    private static <T> T reading(Answering<T> answering) {
        try {
            return answering.answer();
        } catch (KnowledgeStoreException failure) {
            if (failure.isTimeout()) {
                throw A2AException.of(
                                A2AError.KNOWLEDGE_QUERY,
                                A2AError.KNOWLEDGE_QUERY.defaultMessage(),
                                Map.of("reason", "timeout", "limitMs", "" + PATIENCE.toMillis()))
                        .causedBy(failure);
            }
            throw failure;
        } catch (InvalidField field) {
            throw A2AException.invalidParams(field.field(), field.problem());
        }
    }

    /** True for what a query names. */
    private Predicate<String> named(Query query) {
        return whenAsked(() -> switch (query.language()) {
            case Query.GRAPHQL -> graphql.namedIn(query);
            case Query.SPARQL -> Sparql.namedIn(query.query(), query.variables(), PATIENCE);
            default -> name -> false;
        });
    }

    /** Most graphs forbid nothing, so that nobody has to read a request twice. */
    private static Predicate<String> whenAsked(Supplier<Predicate<String>> names) {
        var known = new ArrayList<Predicate<String>>(1);
        return name -> {
            if (known.isEmpty()) {
                known.add(names.get());
            }
            return known.getFirst().test(name);
        };
    }

    /** True for what a subscription names. */
    static Predicate<String> named(ChangeFilter filter) {
        Pattern pattern = filter.pattern();
        return name -> pattern.graphs().contains(name) || pattern.predicates().contains(name);
    }

    /** The GraphQL schema of the caller's group, as far as they may see it, in the schema language. */
    public String schema(CallContext context) {
        String group = context.scope().group();
        return graphql.schema(group, rules(group).floors(On.QUERY, context.caller()));
    }

    /** Answers a question that no query language has words for, from what {@code context} may see. */
    public <T> T read(CallContext context, Function<View, T> question) {
        Floors floors = rules(context.scope().group()).floors(On.QUERY, context.caller());
        return reading(() -> statements.read(context.scope().group(), floors, Duration.ofHours(1), question));
    }

    // ---- Changing

    @Override
    public UpdateResult update(Update update, CallContext context) {
        if (update.sparql() != null) {
            return sparql(update, context);
        }
        return make(update, context, null).result();
    }

    /** An update that has waited, and who lets it be done now. */
    private record Approval(
            long number, CallContext by, @Nullable String remark) {}

    private Outcome make(Update update, CallContext context, @Nullable Approval approval) {
        String group = context.scope().group();
        Alignment alignment = rules(group);
        Optional<ShaclShapes> constraints = shapes(group); // here, because the writer must not wait for a reader
        try {
            return statements.transact(
                    group,
                    (writing, session) -> {
                        Outcome outcome = new Updates(
                                        journal,
                                        alignment,
                                        (view, touched) -> violations(constraints, view, touched),
                                        context,
                                        update,
                                        approval == null ? null : approval.by().caller())
                                .make(writing);
                        if (approval != null && outcome.result().success()) {
                            decide(
                                    writing,
                                    approval.number(),
                                    Review.State.APPROVED,
                                    approval.by().caller(),
                                    approval.remark());
                        }
                        audit(
                                session,
                                writing.space,
                                "knowledge/update",
                                context,
                                outcome(outcome.result()),
                                noted(update));
                        trail.add(session, changed(context, update, outcome.result(), approval));
                        return outcome;
                    },
                    outcome -> publish(group, outcome.changes()));
        } catch (Updates.Refused refused) {
            note("knowledge/update", context, outcome(refused.result()), noted(update));
            trail.note(changed(context, update, refused.result(), approval));
            return Outcome.of(refused.result());
        } catch (A2AException refused) {
            note("knowledge/update", context, refused.error().name(), noted(update));
            throw refused;
        } catch (KnowledgeStoreException failure) {
            throw A2AException.of(
                            A2AError.KNOWLEDGE_UPDATE,
                            A2AError.KNOWLEDGE_UPDATE.defaultMessage(),
                            Map.of("reason", "store"))
                    .causedBy(failure);
        }
    }

    private static List<String> violations(Optional<ShaclShapes> constraints, SqlWriting writing, Set<String> touched) {
        return constraints
                .map(shapes -> shapes.check(writing, touched, CONSTRAINT_PATIENCE).stream()
                        .map(one -> one.focusNode() + (one.path() == null ? "" : " " + one.path()) + ": "
                                + one.message() + " (shape " + one.shape() + ")")
                        .toList())
                .orElse(List.of());
    }

    private void publish(String group, List<Numbered> changes) {
        RecentChanges feed = feeds.get(group);
        if (feed != null) {
            feed.publish(changes);
        }
    }

    /** A SPARQL update is worked out beside the writer, and then done if nothing has changed meanwhile. */
    private UpdateResult sparql(Update update, CallContext context) {
        String text = requireNonNull(update.sparql());
        boolean pinned = update.metadata().containsKey("ifRevision");
        Alignment alignment = rules(context.scope().group());
        alignment
                .forbids(On.QUERY, context.caller(), whenAsked(() -> Sparql.namedIn(text, PATIENCE)))
                .ifPresent(rule -> {
                    throw Updates.forbidden(rule);
                });
        // What the caller may not see it may not copy to where it can be seen.
        Floors floors = alignment.floors(On.QUERY, context.caller());
        for (int attempt = 1; ; attempt++) {
            var metadata = new LinkedHashMap<>(update.metadata());
            List<Patch> patches = reading(() -> statements.read(context.scope().group(), floors, PATIENCE, view -> {
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

    /**
     * Holds many statements at once, as one update of their group: from a file, for instance. Rules and shapes are not
     * asked; the caller has to be trusted.
     *
     * @return how many were new or changed
     */
    public int load(List<Statement> batch, CallContext context, @Nullable String source) {
        String group = context.scope().group();
        var update = new Update(List.of(), null, source, null, null, null, Map.of());
        Outcome done = statements.transact(
                group,
                (writing, session) -> {
                    Outcome outcome = new Updates(
                                    journal, Alignment.NONE, (view, touched) -> List.of(), context, update, null)
                            .load(writing, batch, watched.contains(group));
                    Map<String, @Nullable Object> detail = Map.of("statements", batch.size());
                    audit(session, writing.space, "import", context, "ok", detail);
                    trail.add(session, entry(context, "knowledge.imported", group, "", "ok", detail));
                    return outcome;
                },
                outcome -> publish(group, outcome.changes()));
        return requireNonNull(done.result().statementsAffected());
    }

    // ---- Watching

    @Override
    public Changes subscribe(Subscribe subscription, CallContext context) {
        return audited("knowledge/subscribe", context, shown(subscription.query()), () -> watch(subscription, context));
    }

    private Changes watch(Subscribe subscription, CallContext context) {
        String group = context.scope().group();
        GraphQlSubscription prepared = graphql.prepare(subscription);
        rules(group)
                .forbids(On.SUBSCRIBE, context.caller(), named(prepared.filter()))
                .ifPresent(rule -> {
                    throw Updates.forbidden(rule);
                });
        RecentChanges feed = feed(group);
        takePlace(context);
        boolean watching = false;
        try {
            long position = begin(subscription, group);
            boolean resumes = subscription.metadata().get(AFTER) != null;
            var changes = new Watching(
                    feed,
                    (number, limit) -> backlog(group, number, limit),
                    () -> rules(group),
                    context.caller(),
                    prepared,
                    isTrue(subscription, "includeProjection") ? (of, change) -> project(context, of, change) : null,
                    id -> statements.read(
                            group,
                            Floors.NONE,
                            PATIENCE,
                            view -> view.types(List.of(id)).getOrDefault(id, Set.of())),
                    isTrue(subscription, "snapshot") && !resumes
                            ? cursor -> snapshot(context, prepared.filter().pattern(), position, cursor)
                            : null,
                    position,
                    statements.space(group).changeId(position),
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

    /** Returns behind which change a reader begins. */
    private long begin(Subscribe subscription, String group) {
        Object after = subscription.metadata().get(AFTER);
        if (after == null) {
            return statements.read(group, Floors.NONE, PATIENCE, View::revision);
        }
        long number = numbered(group, after.toString());
        backlog(group, number, 1);
        return number;
    }

    /** What a subscription may see, without what has changed behind {@code position}. */
    private Page<Change> snapshot(CallContext context, Pattern pattern, long position, @Nullable String cursor) {
        String group = context.scope().group();
        Floors floors = rules(group).floors(On.SUBSCRIBE, context.caller());
        return reading(() -> statements.read(group, floors, PATIENCE, view -> {
            Page<Fact> page = view.statements(pattern, cursor, SNAPSHOT_PAGE);
            List<Change> held = page.items().stream()
                    .map(Graph::held)
                    .filter(change -> numbered(group, change.changeId()) <= position)
                    .toList();
            return new Page<>(held, page.next());
        }));
    }

    private static Change held(Fact fact) {
        Object id = fact.statement().provenance().get("changeId");
        return new Change(
                Patch.Op.ADD, fact.statement(), String.valueOf(id), fact.confirmedAt(), Map.of("snapshot", true));
    }

    private long numbered(String group, String changeId) {
        try {
            return statements.space(group).changeNumber(changeId);
        } catch (InvalidField field) {
            throw A2AException.invalidParams(field.field(), field.problem());
        }
    }

    private List<Numbered> backlog(String group, long after, int limit) {
        return statements.ask(group, PATIENCE, (session, space) -> {
            if (journal.isForgotten(session, space, after)) {
                throw subscriptionFailed("expired", Map.of("lastChangeId", space.changeId(after)));
            }
            return journal.changes(session, space, after, limit);
        });
    }

    private static A2AException subscriptionFailed(String reason, Map<String, String> more) {
        var detail = new LinkedHashMap<>(more);
        detail.put("reason", reason);
        return A2AException.of(
                A2AError.KNOWLEDGE_SUBSCRIPTION, A2AError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(), detail);
    }

    private Map<String, @Nullable Object> project(
            CallContext context, GraphQlSubscription subscription, Change change) {
        String group = context.scope().group();
        Floors floors = rules(group).floors(On.SUBSCRIBE, context.caller());
        return statements.read(group, floors, PATIENCE, view -> subscription.project(change, view));
    }

    /** The feed of a group begins when somebody watches. */
    private RecentChanges feed(String group) {
        RecentChanges known = feeds.get(group);
        if (known != null) {
            return known;
        }
        statements.transact(
                group,
                (writing, session) -> {
                    // From here on whoever writes must tell it, though it is not there before the commit.
                    watched.add(group);
                    return new RecentChanges(writing.revision());
                },
                feed -> feeds.putIfAbsent(group, feed));
        return requireNonNull(feeds.get(group));
    }

    private void takePlace(CallContext context) {
        int open = subscriptions.merge(context.scope(), 1, Integer::sum);
        if (open > MAX_SUBSCRIPTIONS) {
            leavePlace(context);
            throw A2AException.of(
                    A2AError.KNOWLEDGE_SUBSCRIPTION,
                    A2AError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(),
                    Map.of("reason", "quota", "limit", "" + MAX_SUBSCRIPTIONS),
                    List.of(),
                    Duration.ofSeconds(1));
        }
    }

    private void leavePlace(CallContext context) {
        subscriptions.computeIfPresent(context.scope(), (scope, open) -> open == 1 ? null : open - 1);
    }

    /** What a view remembers of changes, for the field {@code changes} of a query. */
    private Page<Change> changes(View view, @Nullable String after, int limit) {
        var seen = (SqlView) view;
        return SqlView.reading(() -> {
            long from = after == null ? 0 : seen.space.changeNumber(after);
            var found = new ArrayList<Change>();
            int size = limit + 1;
            List<Numbered> numbered;
            do {
                numbered = journal.changes(seen.session, seen.space, from, size);
                for (Numbered one : numbered) {
                    from = one.number();
                    Numbered shown = seen.seen(one);
                    if (shown != null) {
                        found.add(shown.change());
                    }
                }
                size = CHANGES_AT_ONCE;
            } while (found.size() <= limit && !numbered.isEmpty());
            boolean more = found.size() > limit;
            List<Change> kept = more ? found.subList(0, limit) : found;
            return new Page<>(kept, more && limit > 0 ? kept.getLast().changeId() : null);
        });
    }

    /** The ids of the changes that were made for a task, the oldest first. */
    public List<String> changesOf(String taskId, CallContext context) {
        String group = context.scope().group();
        Floors floors = rules(group).floors(On.QUERY, context.caller());
        Space space = statements.space(group);
        // By the readers of the tasks: whoever asks for a task does not wait for queries.
        return database.read(session -> {
            var ids = new ArrayList<String>();
            var view = new SqlView(session, space, statements.terms(), statements.sql(), floors);
            for (long number : journal.ofTask(session, space, taskId, MAX_SHOWN)) {
                boolean all = floors.rules().isEmpty() && floors.otherwise();
                if (all
                        || journal.changes(session, space, number - 1, 1).stream()
                                .anyMatch(one -> view.seen(one) != null)) {
                    ids.add(space.changeId(number));
                }
            }
            return ids;
        });
    }

    // ---- Rules, reviews, audit

    /** The rules of a group. */
    public Alignment rules(String group) {
        Alignment known = rules.get(group);
        if (known == null) {
            known = statements.ask(group, PATIENCE, Graph::alignment);
            rules.putIfAbsent(group, known);
        }
        return known;
    }

    private static Alignment alignment(Session session, Space space) throws SQLException {
        String json = setting(session, space, RULES);
        return json == null ? Alignment.NONE : Alignment.read(json);
    }

    private static @Nullable String setting(Session session, Space space, String name) throws SQLException {
        try (var row = session.bind("SELECT value FROM kg_setting WHERE space = ? AND name = ?", space.number(), name)
                .executeQuery()) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** Sets the rules of a group; they hold for whatever begins from now on, and for streams that are open. */
    public void rules(String group, Alignment alignment) {
        rules(alignment, owner(group));
    }

    /** Sets the rules of the group of {@code by}, who is in the audit then. */
    public void rules(Alignment alignment, CallContext by) {
        String group = by.scope().group();
        statements.transact(
                group,
                (writing, session) -> {
                    SqlStatementStore.setting(session, writing.space, RULES, alignment.json());
                    trail.add(session, entry(by, "knowledge.rules", group, "", "ok", Map.of()));
                    return alignment;
                },
                set -> rules.put(group, set));
        RecentChanges feed = feeds.get(group);
        if (feed != null) {
            feed.wake();
        }
    }

    /** The shapes of a group as statements, each about the classes of its graph. */
    private List<Statement> declarations(String group) {
        return shapes(group).stream()
                .flatMap(some -> some.graph().stream())
                .map(triple -> RdfTerms.statement(
                        Quad.defaultGraphIRI, triple.getSubject(), triple.getPredicate(), triple.getObject()))
                .filter(Objects::nonNull)
                .toList();
    }

    /** Empty where there are none, so that SHACL is not loaded before somebody uses it. */
    private Optional<ShaclShapes> shapes(String group) {
        Optional<ShaclShapes> known = shapes.get(group);
        if (known == null) {
            String turtle = shapesText(group);
            known = turtle.isBlank() ? Optional.empty() : Optional.of(ShaclShapes.parse(turtle));
            shapes.putIfAbsent(group, known);
        }
        return known;
    }

    /** The shapes of a group as they were set, in Turtle; empty if there are none. */
    public String shapesText(String group) {
        return statements.ask(
                group, PATIENCE, (session, space) -> requireNonNullElse(setting(session, space, SHAPES), ""));
    }

    /**
     * Sets what the statements of a group have to look like: SHACL in Turtle, empty for no shapes. Updates are held against
     * it from now on; what is there already is not looked at before it is touched.
     *
     * @throws A2AException INVALID_PARAMS if they are no shapes; the old ones stay
     */
    public void shapes(String group, String turtle) {
        shapes(turtle, owner(group));
    }

    /** Who has the graph in hand, and not through a hub. */
    private static CallContext owner(String group) {
        return CallContext.of("operator", new CallContext.Scope(group, "operator"));
    }

    /**
     * Sets the shapes of the group of {@code by}, who is in the audit then.
     *
     * @throws A2AException INVALID_PARAMS if they are no shapes; the old ones stay
     */
    public void shapes(String turtle, CallContext by) {
        String group = by.scope().group();
        Optional<ShaclShapes> parsed = turtle.isBlank() ? Optional.empty() : Optional.of(ShaclShapes.parse(turtle));
        statements.transact(
                group,
                (writing, session) -> {
                    SqlStatementStore.setting(session, writing.space, SHAPES, turtle.isBlank() ? null : turtle);
                    trail.add(session, entry(by, "knowledge.shapes", group, "", "ok", Map.of()));
                    return parsed;
                },
                set -> {
                    shapes.put(group, set);
                    graphql.forget(group);
                });
    }

    /**
     * Says how certain the statements of a graph are that do not say so themselves.
     *
     * @param graph null for the default graph
     * @param certainty 0 to 1; null if it is not known
     */
    public void defaultCertainty(String group, @Nullable String graph, @Nullable Double certainty) {
        statements.defaultCertainty(group, graph, certainty);
    }

    /** Updates that wait for somebody to look at them, the oldest first; with a state, those of that state. */
    public Page<Review> reviews(String group, Review.@Nullable State state, @Nullable String after, int limit) {
        long from = after == null ? 0 : number(after);
        return statements.ask(group, PATIENCE, (session, space) -> journal.reviews(session, space, state, from, limit));
    }

    /**
     * Does an update that waits. Rules that forbid or reject it now still do.
     *
     * @param remark for people to read; null for none
     * @throws A2AException INVALID_PARAMS if it does not wait, KNOWLEDGE_UPDATE or ALIGNMENT_VIOLATION as an update;
     *     it still waits then
     */
    public UpdateResult approve(String id, @Nullable String remark, CallContext reviewer) {
        Review review = pending(id, reviewer);
        var context = CallContext.of(review.caller(), reviewer.scope());
        return make(review.update(), context, new Approval(number(id), reviewer, remark))
                .result();
    }

    /**
     * Refuses an update that waits.
     *
     * @throws A2AException INVALID_PARAMS if it does not wait
     */
    public void reject(String id, @Nullable String remark, CallContext reviewer) {
        pending(id, reviewer);
        statements.transact(
                reviewer.scope().group(),
                (writing, session) -> {
                    decide(writing, number(id), Review.State.REJECTED, reviewer.caller(), remark);
                    audit(session, writing.space, "review", reviewer, "REJECTED", Map.of("review", id));
                    trail.add(session, entry(reviewer, "knowledge.rejected", id, "", "ok", Map.of()));
                    return id;
                },
                done -> {});
    }

    private Review pending(String id, CallContext reviewer) {
        Optional<Review> review = statements.ask(
                reviewer.scope().group(), PATIENCE, (session, space) -> journal.review(session, space, number(id)));
        return review.filter(one -> one.state() == Review.State.PENDING)
                .orElseThrow(
                        () -> A2AException.invalidParams("id", id + " (expected: the number of an update that waits)"));
    }

    /** Nobody else may have decided meanwhile; else what was done with it is undone. */
    private void decide(SqlWriting writing, long number, Review.State state, String by, @Nullable String remark)
            throws SQLException {
        if (!journal.decide(writing, number, state, by, remark)) {
            throw noLongerWaits(Long.toString(number));
        }
    }

    private static A2AException noLongerWaits(String id) {
        return A2AException.invalidParams("id", id + " (expected: the number of an update that waits)");
    }

    private static long number(String id) {
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException noNumber) {
            throw A2AException.invalidParams("id", id + " (expected: a number)");
        }
    }

    private static AuditTrail.Entry changed(
            CallContext context, Update update, UpdateResult result, @Nullable Approval approval) {
        var detail = new LinkedHashMap<String, @Nullable Object>();
        detail.put("mutations", update.mutations().size());
        note(detail, "taskId", update.taskId());
        if (approval == null) {
            return entry(context, "knowledge.updated", context.scope().group(), "", outcome(result), detail);
        }
        String id = Long.toString(approval.number());
        String subject = context.scope().group() + "/" + context.caller();
        return entry(approval.by(), "knowledge.approved", id, subject, outcome(result), detail);
    }

    private static AuditTrail.Entry entry(
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

    /** What was asked of a group's graph, questions included, the oldest first; not for ever, unlike what changed it. */
    public List<AuditEntry> audit(String group, long after, int limit) {
        return statements.ask(group, PATIENCE, (session, space) -> journal.audit(session, space, null, after, limit));
    }

    // ---- What is held of somebody

    /** What somebody has said in a group: statements that come from them, be it that others have said the same since. */
    public Page<Statement> saidBy(String group, String name, @Nullable String after, int limit) {
        return reading(() -> statements.ask(group, PATIENCE, (session, space) -> {
            Page<Fact> page = view(session, space).saidBy(name, after, limit);
            return new Page<>(page.items().stream().map(Fact::statement).toList(), page.next());
        }));
    }

    private SqlView view(Session session, Space space) {
        return new SqlView(session, space, statements.terms(), statements.sql(), Floors.NONE);
    }

    /** Updates that somebody has asked for or decided, the oldest first. */
    public Page<Review> reviewsOf(String group, String name, @Nullable String after, int limit) {
        long from = after == null ? 0 : number(after);
        return statements.ask(
                group, PATIENCE, (session, space) -> journal.reviewsOf(session, space, name, from, limit));
    }

    /** What somebody has asked of a group's graph, the oldest first. */
    public List<AuditEntry> auditOf(String group, String name, long after, int limit) {
        return statements.ask(group, PATIENCE, (session, space) -> journal.audit(session, space, name, after, limit));
    }

    /**
     * What was erased.
     *
     * @param statements that are no more, or are only what others say
     * @param rows that had to do with the name
     */
    public record Erased(int statements, int rows) {}

    /**
     * Puts a hash in the place of somebody's name, in all that is kept in the group of {@code by}, and removes what else they
     * have told of themselves: why they said things, what they asked, what waits or was refused. Nothing of it is in the
     * database's files then.
     *
     * @param withStatements whether what they alone have said is taken back before. Those who watch see it go; the changes
     *     of the group are forgotten then, so who comes back for them begins anew
     */
    public Erased erase(String name, boolean withStatements, CallContext by) {
        Resource.of(name); // so that it can be one
        String group = by.scope().group();
        var terms = new LinkedHashSet<Long>();
        int taken = withStatements ? withdraw(name, by, terms) : 0;
        int rows = statements.erase(group, (writing, session) -> {
            int named = new Erasure(writing).name(name);
            Alignment alignment = alignment(session, writing.space);
            Alignment hashed = alignment.withSource(name, AuditTrail.hashed(name));
            if (!hashed.equals(alignment)) {
                SqlStatementStore.setting(session, writing.space, RULES, hashed.json());
            }
            if (withStatements) {
                journal.forgetUpTo(session, writing.space.number(), writing.revision());
                statements.terms().eraseUnused(session, terms);
            }
            return named;
        });
        rules.remove(group);
        forgetRecent(group);
        return new Erased(taken, rows);
    }

    /** Takes back what somebody has said, and remembers what it was made of. */
    private int withdraw(String name, CallContext by, Set<Long> terms) {
        String group = by.scope().group();
        var update = new Update(List.of(), null, null, null, null, null, Map.of());
        int taken = 0;
        String after = null;
        do {
            Page<Statement> said = saidBy(group, name, after, KnowledgeOperation.MAX_MUTATIONS);
            after = said.next();
            Outcome done = statements.transact(
                    group,
                    (writing, session) -> {
                        for (Statement one : said.items()) {
                            SqlWriting.Key key = writing.key(one);
                            terms.add(key.s());
                            terms.add(key.o());
                        }
                        Outcome outcome = new Updates(
                                        journal, rules(group), (view, touched) -> List.of(), by, update, null)
                                .withdraw(writing, said.items(), name);
                        trail.add(session, changed(by, update, outcome.result(), null));
                        return outcome;
                    },
                    outcome -> publish(group, outcome.changes()));
            taken += requireNonNull(done.result().statementsAffected());
        } while (after != null);
        return taken;
    }

    /** Removes that anything was done for tasks, or in contexts, of the group of {@code by}. */
    public void unlink(Collection<String> ids, CallContext by) {
        String group = by.scope().group();
        statements.erase(group, (writing, session) -> {
            new Erasure(writing).links(ids);
            return ids;
        });
        forgetRecent(group);
    }

    private void forgetRecent(String group) {
        RecentChanges feed = feeds.get(group);
        if (feed != null) {
            feed.forget();
        }
    }

    private <T> T audited(
            String operation, CallContext context, Map<String, @Nullable Object> detail, Answering<T> asking) {
        String outcome = "ok";
        try {
            return asking.answer();
        } catch (A2AException refused) {
            outcome = refused.error().name();
            throw refused;
        } finally {
            note(operation, context, outcome, detail);
        }
    }

    private static Map<String, @Nullable Object> shown(String query) {
        return Map.of("query", beginning(query));
    }

    private static String beginning(String text) {
        return text.length() <= MAX_AUDITED ? text : text.substring(0, MAX_AUDITED) + "…";
    }

    private static Map<String, @Nullable Object> noted(Update update) {
        var detail = new LinkedHashMap<String, @Nullable Object>();
        detail.put("mutations", update.mutations().size());
        note(detail, "sourceAgentId", update.sourceAgentId());
        note(detail, "justification", update.justification());
        note(detail, "taskId", update.taskId());
        return detail;
    }

    private static void note(Map<String, @Nullable Object> detail, String name, @Nullable String said) {
        if (said != null) {
            detail.put(name, beginning(said));
        }
    }

    private static String outcome(UpdateResult result) {
        return requireNonNull(result.verificationStatus());
    }

    private void audit(
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
    private void note(String operation, CallContext context, String outcome, Map<String, @Nullable Object> detail) {
        if (!open) {
            return;
        }
        Space space = statements.space(context.scope().group());
        notes.acquireUninterruptibly();
        database.submit(new Database.Work() {
            @Override
            public void write(Session session) throws SQLException {
                audit(session, space, operation, context, outcome, detail);
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

    /** Closes the graphs; those who watch are told that it is over. Idempotent. */
    @Override
    public void close() {
        open = false;
        if (ownsDatabase) {
            database.close();
        }
    }
}
