package dev.parley.knowledge.remote;

import static dev.parley.knowledge.store.StatementStore.PATIENCE;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.GraphView;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.protocol.A2AException;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps statements in a server that speaks SPARQL 1.1, such as Apache Jena Fuseki, and everything else of the graphs in the
 * database of the hub.
 *
 * <p>A group has a graph {@code urn:parley:statements:GROUP} in which each statement is a resource that says what the
 * statement says and by whom. What a group holds is there as plain triples too, in {@code urn:parley:graph:GROUP} and, for
 * named graphs, {@code urn:parley:graph:GROUP:NAME}; they are for other readers, and never read back.
 *
 * <p>An update is worked out beside the writer and committed in the hub's database, with its text in SPARQL. From then on it is done: the server
 * gets the text, again if need be, before anything else is asked about the group. ADR 26 has the reasons.
 */
public final class RemoteStatements implements GraphStore {
    private static final Logger LOG = System.getLogger("dev.parley.knowledge");

    /** Longest duration of an update, with all its requests. */
    private static final Duration UPDATE_PATIENCE = Duration.ofSeconds(30);

    /** Number of times that a query is repeated because of an update; then updates wait for it. */
    private static final int MAX_REPETITIONS = 3;

    /** The same if other hubs write to the same graphs, for which no lock has updates wait. */
    private static final int MAX_SHARED_REPETITIONS = 20;

    /** Updates of a group, in their order. */
    private static final class GroupUpdates {
        static final long UNSETTLED = -1;

        final String group;
        final ReentrantLock lock = new ReentrantLock();

        /**
         * {@link RemoteServer#failures} when the server was last found to have all that the hub has committed; {@link #UNSETTLED} if it
         * may lack some of it.
         */
        volatile long settledAt = UNSETTLED;

        /** Number of the update up to which the server had all then; another hub may have committed others. */
        volatile long settledNumber;

        /** Number of updates that were about to be committed. */
        final AtomicLong generation = new AtomicLong();

        // The rest is for the holder of the lock.

        /** Whether the fields below are those of the database. */
        boolean known;

        /** Number of the update that was committed last. */
        long number;

        /** Its text, while the server may not have it. */
        @Nullable
        String pending;

        /** Number of the newest statement on the server. */
        long last;

        GroupUpdates(String group) {
            this.group = group;
        }
    }

    private final SqlStatementStore tables;
    private final Database database;
    private final RemoteServer server;
    private final InstantSource clock;
    /** Whether other hubs write to the same graphs. */
    private final boolean isShared;

    private final LoadingCache<String, GroupUpdates> groups =
            Caffeine.newBuilder().weakValues().build(GroupUpdates::new);

    /**
     * @param tables where the records are
     * @throws StoreException if statements are in the tables
     */
    public RemoteStatements(SqlStatementStore tables, RemoteServer server, InstantSource clock) {
        this.tables = tables;
        this.database = tables.database();
        this.server = server;
        this.clock = clock;
        this.isShared = tables.shared().isShared();
        if (database.<Long>read(session -> session.number("SELECT 1 FROM kg_statement LIMIT 1")) != 0) {
            throw new StoreException(
                    "the database has statements in its tables (expected: none, or no other store of statements;"
                            + " export them, and import them into another data directory)");
        }
    }

    /** True if the statements of a database are on a server. */
    public static boolean isUsedBy(Database database) {
        return database.<Long>read(session -> session.number("SELECT 1 FROM kg_remote LIMIT 1")) != 0;
    }

    private SparqlClient endpoint(Duration patience) {
        return new SparqlClient(server, patience);
    }

    // ---- Reading

    @Override
    public <T> T read(String group, ReadFilter readFilter, Duration patience, Function<View, T> question) {
        return tables.compute(group, patience, () -> {
            SparqlClient endpoint = endpoint(patience);
            settle(updates(group), endpoint);
            return question.apply(view(endpoint, group, readFilter));
        });
    }

    @Override
    public <T> T view(String group, ReadFilter readFilter, Duration patience, Function<GraphView, T> question) {
        return tables.compute(group, patience, () -> atOneMoment(group, readFilter, patience, question));
    }

    @Override
    public <T> T lookUp(String group, ReadFilter readFilter, Function<GraphView, T> question) {
        return atOneMoment(group, readFilter, PATIENCE, question);
    }

    /** The server has no transaction for several requests, so the question is repeated if an update comes between. */
    private <T> T atOneMoment(String group, ReadFilter readFilter, Duration patience, Function<GraphView, T> question) {
        SparqlClient endpoint = endpoint(patience);
        GroupUpdates updates = updates(group);
        for (int attempt = 0; attempt < repetitions(); attempt++) {
            long generation = updates.generation.get();
            long number = settle(updates, endpoint);
            T answer = question.apply(view(endpoint, group, readFilter));
            if (updates.generation.get() == generation && (!isShared || number(group) == number)) {
                return answer;
            }
        }
        if (isShared) {
            throw KnowledgeStoreException.busy(new TimeoutException("updates of other hubs follow each other"));
        }
        acquire(updates);
        try {
            settleLocked(updates, endpoint);
            return question.apply(view(endpoint, group, readFilter));
        } finally {
            updates.lock.unlock();
        }
    }

    private int repetitions() {
        return isShared ? MAX_SHARED_REPETITIONS : MAX_REPETITIONS;
    }

    /** Number of the update of a group that a hub has committed last. */
    private long number(String group) {
        return tables.lookUp(
                group,
                (session, space) -> session.number("SELECT update_no FROM kg_remote WHERE space = ?", space.number()));
    }

    private RemoteView view(SparqlClient endpoint, String group, ReadFilter readFilter) {
        return new RemoteView(endpoint, of(group), readFilter);
    }

    private RemoteView.Of of(String group) {
        GroupCache space = tables.space(group);
        var certainties = new HashMap<String, Double>();
        if (!space.defaultCertainty().isEmpty()) {
            Map<Long, Term> names = tables.lookUp(
                    group,
                    (session, any) -> tables.terms()
                            .getAll(session, space.defaultCertainty().keySet()));
            space.defaultCertainty()
                    .forEach((graph, certainty) -> certainties.put(
                            names.get(graph) instanceof Term.Resource name ? name.id() : "", certainty));
        }
        long revision = tables.lookUp(group, ReadFilter.NONE, View::revision);
        return new RemoteView.Of(tables, group, space, revision, certainties);
    }

    // ---- Updates

    private GroupUpdates updates(String group) {
        return requireNonNull(groups.get(group));
    }

    private static void acquire(GroupUpdates updates) {
        try {
            if (!updates.lock.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw KnowledgeStoreException.busy(
                        new TimeoutException("another update of the group takes " + PATIENCE));
            }
        } catch (InterruptedException stopped) {
            throw SqlStatementStore.interrupted();
        }
    }

    /** Another hub has committed an update of the group since this one was computed. */
    private static final class Overtaken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Overtaken() {
            super("another update was committed meanwhile", null, false, false);
        }
    }

    @Override
    public <T> T transact(String group, Change<T> change, Consumer<T> committed) {
        for (int attempt = 1; ; attempt++) {
            try {
                return transactOnce(group, change, committed);
            } catch (Overtaken another) {
                if (attempt == repetitions()) {
                    throw A2AException.of(
                            KnowledgeError.KNOWLEDGE_UPDATE,
                            KnowledgeError.KNOWLEDGE_UPDATE.defaultMessage(),
                            Map.of("reason", "conflict"));
                }
            }
        }
    }

    private <T> T transactOnce(String group, Change<T> change, Consumer<T> committed) {
        GroupUpdates updates = updates(group);
        acquire(updates);
        try {
            SparqlClient endpoint = endpoint(UPDATE_PATIENCE);
            settleLocked(updates, endpoint);
            GroupCache space = tables.numbered(group);
            long newest = database.read(session -> SqlStatementStore.newest(session, space));
            // Again, for what another hub has committed before that. Later updates are found by the number of their
            // changes.
            settleLocked(updates, endpoint);
            var writing = new RemoteWriting(endpoint, of(group), updates.last, newest, clock.millis());
            T result = make(change, writing);
            if (isShared) {
                writing.requireNumber();
            }
            if (writing.isEmpty()) {
                return commit(group, writing, rows -> {}, result, committed);
            }
            String text = writing.sparql(mark(updates.number), mark(updates.number + 1));
            long next = updates.number + 1;
            // First, for a reader that sees the records must not see the server without the statements.
            updates.generation.incrementAndGet();
            updates.settledAt = GroupUpdates.UNSETTLED;
            updates.known = false;
            commit(group, writing, rows -> keep(rows, next, text), result, committed);
            updates.known = true;
            updates.number = next;
            updates.pending = text;
            try {
                settleLocked(updates, endpoint);
            } catch (KnowledgeStoreException later) {
                LOG.log(Level.WARNING, "An update is committed and sent again later: " + later.getMessage());
            }
            return result;
        } finally {
            updates.lock.unlock();
        }
    }

    private static <T> T make(Change<T> change, RemoteWriting writing) {
        try {
            return change.make(writing);
        } catch (SQLException failure) {
            throw StoreException.of("could not read the records of a graph: " + failure.getMessage(), failure);
        }
    }

    private <T> T commit(
            String group, RemoteWriting writing, GraphWriting.Recording first, T result, Consumer<T> committed) {
        return tables.transact(
                group,
                (rows, session) -> {
                    if (!writing.isNext(rows)) {
                        throw new Overtaken();
                    }
                    first.write(rows);
                    for (GraphWriting.Recording recording : writing.recordings()) {
                        recording.write(rows);
                    }
                    tables.recent().add(group, writing.changed().keySet());
                    return result;
                },
                committed);
    }

    /** Keeps the text of an update until the server has it. On the writer thread. */
    private static void keep(SqlWriting rows, long number, String text) throws SQLException {
        long space = rows.space().number();
        int kept = number == 1
                ? rows.session()
                        .update(
                                "INSERT INTO kg_remote (space, update_no, pending) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                                space,
                                number,
                                text)
                : rows.session()
                        .update(
                                "UPDATE kg_remote SET update_no = ?, pending = ? WHERE space = ? AND update_no = ?",
                                number,
                                text,
                                space,
                                number - 1);
        if (kept == 0) {
            throw new Overtaken();
        }
    }

    /** Says on the server which update was the last one, and of which database. */
    private String mark(long number) {
        return number == 0 ? "" : Long.toHexString(tables.instance()) + ":" + number;
    }

    // ---- Bringing the server up to date

    /** Returns the number of the update up to which the server has all, as this hub alone need not know. */
    private long settle(GroupUpdates updates, SparqlClient endpoint) {
        long number = isShared ? number(updates.group) : updates.settledNumber;
        if (isSettled(updates, number)) {
            return number;
        }
        acquire(updates);
        try {
            settleLocked(updates, endpoint);
            return updates.number;
        } finally {
            updates.lock.unlock();
        }
    }

    private boolean isSettled(GroupUpdates updates, long number) {
        return updates.settledAt == server.failures() && (!isShared || updates.settledNumber == number);
    }

    /** Sends committed changes to the server, and verifies that its graph belongs to the database. */
    private void settleLocked(GroupUpdates updates, SparqlClient endpoint) {
        if (isShared) {
            readRow(updates);
        }
        if (isSettled(updates, updates.number)) {
            return;
        }
        long failures = server.failures();
        if (!updates.known) {
            readRow(updates);
        }
        if (updates.pending != null) {
            endpoint.change(updates.pending);
        }
        var rows = endpoint.ask(
                RemoteStatement.PREFIX + "SELECT ?applied ?last WHERE { GRAPH " + RemoteView.graph(updates.group)
                        + " { " + RemoteView.graph(updates.group) + " p:applied ?applied ; p:last ?last } }");
        String applied =
                rows.isEmpty() ? "" : requireNonNullElse(rows.getFirst().get("applied"), "");
        if (isShared && !applied.equals(mark(updates.number))) {
            followOthers(updates, applied);
        }
        if (rows.size() > 1 || !applied.equals(mark(updates.number))) {
            String problem =
                    "group \"" + updates.group + "\": its graph on " + server.query() + " is as of update \"" + applied
                            + "\" (expected: \"" + mark(updates.number)
                            + "\"; restore the database and the server from backups of the same time)";
            server.failed(problem);
            throw KnowledgeStoreException.unavailable(problem, new IOException("another state"));
        }
        updates.last = rows.isEmpty()
                ? 0
                : Long.parseLong(requireNonNull(rows.getFirst().get("last")));
        if (updates.pending != null) {
            updates.pending = null;
            forgetText(updates.group, updates.number);
        }
        updates.settledNumber = updates.number;
        updates.settledAt = failures;
    }

    /** Goes on after an update that another hub has committed, and sent, since the row was read. */
    private void followOthers(GroupUpdates updates, String applied) {
        long before = updates.number;
        readRow(updates);
        for (long number = updates.number; number > before; number--) {
            if (applied.equals(mark(number))) {
                updates.number = number;
                updates.pending = null;
                return;
            }
        }
        updates.number = before;
    }

    private void readRow(GroupUpdates updates) {
        tables.lookUp(updates.group, (session, space) -> {
            updates.number = session.number("SELECT update_no FROM kg_remote WHERE space = ?", space.number());
            updates.pending = session.first(
                            row -> DatabaseSession.text(row, 1),
                            "SELECT pending FROM kg_remote WHERE space = ? AND update_no = ?",
                            space.number(),
                            updates.number)
                    .orElse(null);
            updates.known = true;
            return updates;
        });
    }

    /** Removes the text of an update that the server has, without waiting for the disk. */
    private void forgetText(String group, long number) {
        long space = tables.space(group).number();
        database.submit(new Work() {
            @Override
            public void write(DatabaseSession session) throws SQLException {
                session.update("UPDATE kg_remote SET pending = NULL WHERE space = ? AND update_no = ?", space, number);
            }

            @Override
            public String group() {
                return group;
            }

            @Override
            public void committed() {}

            @Override
            public void failed(Exception cause) {
                LOG.log(Level.DEBUG, "the next start sends an update again, to no effect", cause);
            }
        });
    }

    // ---- Personal data

    @Override
    public int rewrite(
            String group, Collection<String> values, UnaryOperator<Map<String, @Nullable Object>> provenance) {
        int statements = 0;
        for (String value : values) {
            for (long after = 0; after >= 0; ) {
                long from = after;
                RemoteWriting.Rewritten done = transact(
                        group,
                        writing -> ((RemoteWriting) writing).rewrite(value, provenance, from),
                        any -> tables.recent().addUnlisted(group));
                statements += done.statements();
                after = done.next();
            }
        }
        return statements;
    }

    /** Cancels running requests. The tables are closed by their owner. */
    @Override
    public void close() {
        server.close();
    }
}
