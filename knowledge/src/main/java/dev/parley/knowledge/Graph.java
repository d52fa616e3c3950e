package dev.parley.knowledge;

import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.Alignment.On;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.graphql.GraphQlLimits;
import dev.parley.knowledge.graphql.GraphQlQueries;
import dev.parley.knowledge.journal.ChangeHistory;
import dev.parley.knowledge.journal.ChangeStore;
import dev.parley.knowledge.journal.QueryLog;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.remote.RemoteServer;
import dev.parley.knowledge.remote.RemoteStatements;
import dev.parley.knowledge.sparql.Sparql;
import dev.parley.knowledge.store.DatabaseSettings;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.QueryErrors;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graphs of all groups, in one database. The group of the caller selects the graph.
 *
 * <p>An update, its changes for subscribers, its entry in the audit and the key that makes it repeatable are one
 * transaction. Safe for any thread; calls block.
 */
public final class Graph implements KnowledgeEndpoint, AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.knowledge");

    private final Database database;
    private final boolean ownsDatabase;
    private final InstantSource clock;
    private final SqlStatementStore tables;
    private final @Nullable RemoteServer remote;
    private final GraphStore statements;
    private final ChangeStore journal;
    private final ChangeHistory history;
    private final GroupSettings settings;
    private final @Nullable GraphQlQueries graphql;
    private final Subscriptions subscriptions;
    private final QueryLog log;
    private final UpdateExecutor updates;
    private final GraphPersonalData personal;

    private Graph(
            Database database,
            AuditTrail trail,
            boolean ownsDatabase,
            InstantSource clock,
            InstantSource steadyClock,
            ChangeStore.Keeping keeping,
            @Nullable SparqlService service) {
        this.database = database;
        this.ownsDatabase = ownsDatabase;
        this.clock = clock;
        this.tables = new SqlStatementStore(
                database, clock, service == null ? SqlStatementStore.AT_ONCE : SqlStatementStore.AT_ONCE_ON_SERVER);
        DatabaseSettings.server(database, service == null ? null : service.query());
        this.remote = service == null ? null : new RemoteServer(service);
        if (remote != null) {
            remote.probe();
        }
        this.statements = remote == null ? inTables(tables) : new RemoteStatements(tables, remote, clock);
        this.journal = new ChangeStore(database, tables.terms(), tables.sql(), keeping, steadyClock);
        this.history = new ChangeHistory(tables, statements, journal);
        this.settings = new GroupSettings(tables, trail);
        this.graphql = Libraries.GRAPHQL
                ? new GraphQlQueries(
                        statements,
                        settings::declarations,
                        history,
                        GraphQlLimits.DEFAULTS,
                        System::nanoTime,
                        this::inBackground)
                : null;
        GraphQlQueries queries = graphql;
        if (queries != null) {
            tables.shared().onChange(session -> queries.forgetAll());
        }
        this.subscriptions = new Subscriptions(tables, statements, journal, settings, graphql);
        this.log = new QueryLog(tables, journal, clock);
        this.updates = new UpdateExecutor(tables, statements, journal, trail, settings, subscriptions, log);
        this.personal = new GraphPersonalData(tables, statements, journal, trail, settings, subscriptions);
    }

    /** Tables of graphs. */
    public static ModuleTables tables(DatabaseKind kind) {
        return SqlStatementStore.tables(kind);
    }

    private static GraphStore inTables(SqlStatementStore tables) {
        if (RemoteStatements.isUsedBy(tables.database())) {
            throw new StoreException("the statements of the database are on a SPARQL server (expected: its address)");
        }
        return tables;
    }

    /**
     * Opens the graphs in the SQLite database in {@code directory}, creating both if need be.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Graph open(Path directory) {
        return alone(Database.open(directory));
    }

    /**
     * Opens the graphs in a PostgreSQL database, version 15 or newer, creating its tables if need be.
     *
     * @throws StoreException if another process has it open, or it cannot be read or written
     */
    public static Graph open(DataSource source) {
        return alone(Database.open(source));
    }

    private static Graph alone(Database database) {
        InstantSource clock = InstantSource.system();
        AuditTrail trail = AuditTrail.in(database, clock);
        return new Graph(database, trail, true, clock, trail.steadyClock(), ChangeStore.Keeping.DEFAULTS, null);
    }

    /**
     * The graphs in a database that is open already, and stays so when they are closed.
     *
     * @param trail of the same database, for the authors of changes
     */
    public static Graph in(Database database, AuditTrail trail, InstantSource clock) {
        return in(database, trail, clock, null);
    }

    /**
     * The same with the statements on a SPARQL 1.1 server, and all other records in the database.
     *
     * @param service null for statements in the database
     * @throws StoreException if the statements of the database are elsewhere
     */
    public static Graph in(Database database, AuditTrail trail, InstantSource clock, @Nullable SparqlService service) {
        return new Graph(database, trail, false, clock, trail.steadyClock(), ChangeStore.Keeping.DEFAULTS, service);
    }

    /** The same with other limits, and with another clock that decides what is old enough to be removed. */
    static Graph in(
            Database database,
            AuditTrail trail,
            InstantSource clock,
            InstantSource steadyClock,
            ChangeStore.Keeping keeping) {
        return new Graph(database, trail, false, clock, steadyClock, keeping, null);
    }

    @Override
    public List<String> queryLanguages() {
        return Libraries.languages();
    }

    // ---- Queries

    @Override
    public QueryResult query(Query query, CallContext context) {
        return log.logged(
                "knowledge/query",
                context,
                query,
                query.query(),
                () -> QueryErrors.mapped(
                        () -> tables.compute(context.scope().group(), PATIENCE, () -> answer(query, context))));
    }

    private void inBackground(String group, Runnable work) {
        Thread.startVirtualThread(() -> {
            try {
                tables.compute(group, PATIENCE, () -> {
                    work.run();
                    return true;
                });
            } catch (KnowledgeStoreException later) {
                LOG.log(Level.DEBUG, "not done in the background; a later query tries again", later);
            }
        });
    }

    /** @throws A2AException INVALID_PARAMS if it is not available */
    private GraphQlQueries graphql() {
        Libraries.require("queryLanguage", Query.GRAPHQL);
        return requireNonNull(graphql);
    }

    private QueryResult answer(Query query, CallContext context) {
        Libraries.require("queryLanguage", query.language());
        long began = System.nanoTime();
        String group = context.scope().group();
        Alignment alignment = settings.rules(group);
        alignment.requireAllowed(On.QUERY, context.caller(), () -> named(query));
        Instant now = clock.instant();
        ReadFilter policy = alignment.readFilter(On.QUERY, context.caller());
        var readFilter = new ReadFilter(
                query.requiredCertainty(), since(now, query.maxAge()), policy.rules(), policy.otherwise());
        return switch (query.language()) {
            case Query.GRAPHQL -> {
                GraphQlQueries.Prepared prepared = graphql().prepare(query, group, policy);
                yield statements.view(group, readFilter, PATIENCE, view -> {
                    GraphQlQueries.Answer answer = prepared.answer(view);
                    return found(answer.data(), answer.truncated(), answer.errors(), view, now, began);
                });
            }
            case Query.SPARQL ->
                statements.view(group, readFilter, PATIENCE, view -> {
                    Sparql.Answer answer = Sparql.answer(view, query.query(), query.variables(), PATIENCE);
                    return found(answer.data(), answer.truncated(), List.of(), view, now, began);
                });
            default ->
                throw A2AException.invalidParams(
                        "queryLanguage", query.language() + " (expected: one of " + queryLanguages() + ")");
        };
    }

    /** Returns the earliest permitted time of confirmation; null for any. */
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

    /** Returns a predicate that is true for names in the query. */
    private Predicate<String> named(Query query) {
        return switch (query.language()) {
            case Query.GRAPHQL -> graphql().namedIn(query);
            case Query.SPARQL -> Sparql.namedIn(query.query(), query.variables(), PATIENCE);
            default -> name -> false;
        };
    }

    /** Returns the part of the group's GraphQL schema that the caller may see, in the schema language. */
    @Override
    public String schema(CallContext context) {
        String group = context.scope().group();
        return QueryErrors.mapped(() -> tables.compute(
                group,
                PATIENCE,
                () -> graphql().schema(group, settings.rules(group).readFilter(On.QUERY, context.caller()))));
    }

    /** Runs a query written in Java on the statements that {@code context} may see. */
    public <T> T read(CallContext context, Function<View, T> question) {
        ReadFilter readFilter = settings.rules(context.scope().group()).readFilter(On.QUERY, context.caller());
        return QueryErrors.mapped(
                () -> statements.read(context.scope().group(), readFilter, Duration.ofHours(1), question));
    }

    /**
     * Returns the ids of the changes that were made for a task by its owner or by an agent on behalf of its owner, the
     * oldest first.
     * Changes of other members that name the task are listed only if the task is shared.
     *
     * @param context of the task's owner
     */
    public List<String> changesOf(String taskId, CallContext context) {
        String group = context.scope().group();
        ReadFilter readFilter = settings.rules(group).readFilter(On.QUERY, context.caller());
        return history.ofTask(taskId, context, readFilter);
    }

    // ---- Updates and subscriptions

    @Override
    public UpdateResult update(Update update, CallContext context) {
        return updates.update(update, context);
    }

    /**
     * Imports many statements as one update of a group, for example from a file. Rules and shapes are not evaluated, so the
     * caller must be trusted.
     *
     * @return number of statements that were new or changed
     */
    public int load(List<Statement> batch, CallContext context, @Nullable String source) {
        return updates.load(batch, context, source);
    }

    @Override
    public Feed<KnowledgeOperation.Change> subscribe(Subscribe subscription, CallContext context) {
        return log.logged(
                "knowledge/subscribe",
                context,
                subscription,
                subscription.query(),
                () -> subscriptions.watch(subscription, context));
    }

    // ---- Rules and shapes

    /** The rules of a group. */
    public Alignment rules(String group) {
        return settings.rules(group);
    }

    /** Sets the rules of a group, effective for new calls and open streams. */
    public void rules(String group, Alignment alignment) {
        rules(alignment, owner(group));
    }

    /** Sets the rules of the group of {@code by}, recorded in the audit with that name. */
    public void rules(Alignment alignment, CallContext by) {
        settings.rules(alignment, by);
        subscriptions.wake(by.scope().group());
    }

    /** The shapes of a group as they were set, in Turtle; empty if there are none. */
    public String shapesText(String group) {
        return settings.shapesText(group);
    }

    /**
     * Sets the shapes of a group: SHACL in Turtle, empty for none. They validate later updates; existing statements are
     * validated when an update touches them.
     *
     * @throws A2AException INVALID_PARAMS if the text is not valid shapes; the old ones stay
     */
    public void shapes(String group, String turtle) {
        shapes(turtle, owner(group));
    }

    /**
     * Sets the shapes of the group of {@code by}, recorded in the audit with that name.
     *
     * @throws A2AException INVALID_PARAMS if the text is not valid shapes; the old ones stay
     */
    public void shapes(String turtle, CallContext by) {
        settings.shapes(turtle, by, group -> {
            if (graphql != null) {
                graphql.forget(group);
            }
        });
    }

    /** Caller of a program that uses the graph directly, without a hub. */
    private static CallContext owner(String group) {
        return CallContext.of("operator", new CallContext.Scope(group, "operator"));
    }

    /**
     * Sets the certainty of statements that have none of their own, for one graph.
     *
     * @param graph null for the default graph
     * @param certainty 0 to 1; null for unknown
     */
    public void defaultCertainty(String group, @Nullable String graph, @Nullable Double certainty) {
        tables.defaultCertainty(group, graph, certainty);
    }

    // ---- Reviews and queries

    /** Returns updates that wait for review, the oldest first; with a state, those of that state. */
    public StatementPage<Review> reviews(
            String group, Review.@Nullable State state, @Nullable String after, int limit) {
        long from = after == null ? 0 : Review.number(after);
        return tables.ask(
                group, PATIENCE, (session, space) -> journal.reviews().list(session, space, state, from, limit));
    }

    /**
     * Approves and executes an update that waits. Rules that now forbid or reject it apply.
     *
     * @param remark for people to read; null for none
     * @throws A2AException INVALID_PARAMS if the update does not wait; KNOWLEDGE_UPDATE or ALIGNMENT_VIOLATION as for an
     *     update, which then still waits
     */
    public UpdateResult approve(String id, @Nullable String remark, CallContext reviewer) {
        return updates.approve(id, remark, reviewer);
    }

    /**
     * Rejects an update that waits.
     *
     * @throws A2AException INVALID_PARAMS if the update does not wait     */
    public void reject(String id, @Nullable String remark, CallContext reviewer) {
        updates.reject(id, remark, reviewer);
    }

    /** Returns logged queries and subscriptions of a group, the oldest first. Changes are in the audit trail. */
    public List<LoggedQuery> queries(String group, long after, int limit) {
        return tables.ask(group, PATIENCE, (session, space) -> log.queries(session, space, null, after, limit));
    }

    // ---- Data about a subject

    /** Returns the statements of a source in a group, including those that other sources have repeated since. */
    public StatementPage<Statement> saidBy(String group, String name, @Nullable String after, int limit) {
        return personal.saidBy(group, name, after, limit);
    }

    /** Returns updates that a caller has requested or decided, the oldest first. */
    public StatementPage<Review> reviewsOf(String group, String name, @Nullable String after, int limit) {
        return personal.reviewsOf(group, name, after, limit);
    }

    /** Returns logged queries and subscriptions of one caller, the oldest first. */
    public List<LoggedQuery> queriesOf(String group, String name, long after, int limit) {
        return tables.ask(group, PATIENCE, (session, space) -> log.queries(session, space, name, after, limit));
    }

    /**
     * Result of an erasure.
     *
     * @param statements number of statements that were removed or are now held by other sources only
     * @param rows number of rows that contained the name
     */
    public record Erased(int statements, int rows) {}

    /**
     * Replaces the name of a caller by a hash in all rows of the group of {@code by}, and removes its other data:
     * justifications, queries, and updates that wait or were refused. The files of the database contain none of it then.
     *
     * @param withStatements whether statements that only this caller has made are removed first. Subscribers see the
     *     removals; the group's changes are forgotten afterwards, so subscribers that resume start from the beginning
     */
    public Erased erase(String name, boolean withStatements, CallContext by) {
        return personal.erase(name, withStatements, by);
    }

    /** Removes references to tasks and contexts of the group of {@code by}. */
    public void unlink(Collection<String> ids, CallContext by) {
        personal.unlink(ids, by);
    }

    /** Why the server of the statements is unavailable; empty if it answered last time, or there is none. */
    public Optional<String> storeProblem() {
        return Optional.ofNullable(remote == null ? null : remote.problem());
    }

    /**
     * Server of the statements of a database.
     *
     * @param problem why it cannot be used, with its address; null if it answers
     */
    public record StoreCheck(URI server, @Nullable String problem) {}

    /**
     * Tries to reach the server of the statements of a database, without credentials; waits for 5 s at most.
     *
     * @return empty if the statements are in the database, or there is no graph
     */
    public static Optional<StoreCheck> checkStore(Database database) {
        return DatabaseSettings.server(database).map(server -> new StoreCheck(server, RemoteServer.problem(server)));
    }

    /** Waits until the removal of old entries that has begun, if one has, has ended. */
    void awaitSweep() {
        journal.awaitSweep();
    }

    /** Closes the graphs and ends all subscriptions. Idempotent. */
    @Override
    public void close() {
        log.close();
        journal.close();
        statements.close();
        tables.close();
        if (ownsDatabase) {
            database.close();
        }
    }
}
