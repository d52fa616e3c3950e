package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.knowledge.changes.RecentWrites;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.FairPool;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.Readers;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.database.Work;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.ReadTimeoutException;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Keeps statements in SQLite or PostgreSQL, in the database and the transactions of the tasks. */
public final class SqlStatementStore implements GraphStore, GroupListener {
    /** Queries that run at a time; each has a connection, so none waits for one. */
    public static final int AT_ONCE = Math.max(4, Runtime.getRuntime().availableProcessors());

    /** The same for statements on a server: these queries wait for it, most of the time. */
    public static final int AT_ONCE_ON_SERVER = 8 * AT_ONCE;

    /** Groups whose settings are kept in memory; those of others are read again. */
    public static final int MAX_GROUPS = 1_000;

    /** Queries of one group that wait. */
    private static final int MAX_WAITING = 100;

    private static final DamagedRows DAMAGED = new DamagedRows("setting of a graph");
    private static final String CERTAINTY = "certainty ";

    private record Tally(long space, long graph, long predicate) {
        /** All hubs lock rows in this order. */
        static final Comparator<Tally> ORDER = Comparator.comparingLong(Tally::space)
                .thenComparingLong(Tally::graph)
                .thenComparingLong(Tally::predicate);
    }

    private final Database database;
    private final Readers readers;
    private final FairPool pool;
    private final InstantSource clock;
    private final Sql sql;
    private final SharedGraphs shared;
    private final Terms terms;
    private final long instance;
    private final Map<String, GroupCache> spaces = Caffeine.newBuilder()
            .maximumSize(MAX_GROUPS)
            .<String, GroupCache>build()
            .asMap();

    /** Number of times that {@link #spaces} were emptied. */
    private final AtomicLong reopenings = new AtomicLong();

    private volatile Cache<Long, Map<String, @Nullable Object>> provenance = newCache();
    private final RecentWrites recent = new RecentWrites();

    /** Changes of the tally by the open transaction; used by the writer thread only. */
    private final Map<Tally, Long> changes = new TreeMap<>(Tally.ORDER);

    private final ChangeNumbers numbers;

    public SqlStatementStore(Database database, InstantSource clock) {
        this(database, clock, AT_ONCE);
    }

    /** @param atOnce queries that run at a time */
    public SqlStatementStore(Database database, InstantSource clock, int atOnce) {
        this.database = database;
        this.clock = clock;
        this.sql = new Sql(database.kind());
        database.migrate(tables(database.kind()));
        this.readers = database.readers(AT_ONCE);
        this.pool = new FairPool("knowledge", atOnce, AT_ONCE / 2, MAX_WAITING);
        this.shared = new SharedGraphs(database);
        this.terms = new Terms(database, sql);
        this.numbers = new ChangeNumbers(sql, terms, shared.isShared());
        shared.onChange(this::forgetCopies);
        this.instance = DatabaseSettings.instance(database);
        database.listen(this);
    }

    private static Cache<Long, Map<String, @Nullable Object>> newCache() {
        return Caffeine.newBuilder().maximumSize(10_000).build();
    }

    /** Tables of graphs. */
    public static ModuleTables tables(DatabaseKind kind) {
        return new ModuleTables(
                DatabaseSettings.MODULE,
                List.of(
                        script("tables-1.sql"),
                        script("tables-2.sql"),
                        script("tables-3.sql"),
                        script("tables-4.sql"),
                        script("tables-5.sql") + (kind == DatabaseKind.SQLITE ? "" : script("identities-5.sql")),
                        script("tables-6.sql")));
    }

    private static String script(String name) {
        try (InputStream in = SqlStatementStore.class.getResourceAsStream(name)) {
            return new String(requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new KnowledgeStoreException(name + " is missing from the archive", unreadable, false);
        }
    }

    public Terms terms() {
        return terms;
    }

    /** What hubs that share the database agree on. */
    public SharedGraphs shared() {
        return shared;
    }

    /** Random number of the database. */
    public long instance() {
        return instance;
    }

    public Sql sql() {
        return sql;
    }

    /** Written statements of all groups, for computations outside of the writer thread. */
    public RecentWrites recent() {
        return recent;
    }

    public Database database() {
        return database;
    }

    /** Returns the space of a group, by reading only: a group without a graph has a space {@link GroupCache#isEmpty without rows}. */
    public GroupCache space(String group) {
        GroupCache known = spaces.get(group);
        if (known != null) {
            return known;
        }
        long before = reopenings.get();
        Optional<GroupCache> found = database.read(session -> find(session, group));
        return found.isPresent()
                ? remembered(group, found.get(), before)
                : new GroupCache(GroupCache.NO_NUMBER, new ChangeIds(instance, 0, 0), Map.of(), provenance);
    }

    /** Returns the space of a group for writing to its graph, which gives it a number if need be. */
    public GroupCache numbered(String group) {
        GroupCache known = space(group);
        if (!known.isEmpty()) {
            return known;
        }
        long before = reopenings.get();
        return remembered(group, database.write(group, session -> load(session, group)), before);
    }

    /** @param before {@link #reopenings} when it was read or written */
    private GroupCache remembered(String group, GroupCache read, long before) {
        GroupCache known = spaces.computeIfAbsent(group, name -> reopenings.get() == before ? read : null);
        return known == null ? read : known;
    }

    /** Returns the space of a group, in a transaction that writes to its graph. */
    public GroupCache load(DatabaseSession session, String group) throws SQLException {
        Optional<GroupCache> found = find(session, group);
        if (found.isPresent()) {
            return found.get();
        }
        numbers.add(session, group);
        return find(session, group).orElseThrow();
    }

    /** Number of the newest change of a space, or of one that other hubs see in its place. */
    public static long newest(DatabaseSession session, GroupCache space) throws SQLException {
        return session.number("SELECT newest FROM kg_space WHERE space = ?", space.number());
    }

    /** The same of many spaces, by their numbers. */
    public Map<Long, Long> newest(Collection<Long> numbers) {
        return numbers.isEmpty()
                ? Map.of()
                : database.read(session -> session
                        .list(
                                row -> Map.entry(row.getLong(1), row.getLong(2)),
                                "SELECT space, newest FROM kg_space WHERE " + sql.in("space", numbers),
                                sql.list(numbers))
                        .stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    private Optional<GroupCache> find(DatabaseSession session, String group) throws SQLException {
        ChangeIds ids = session.first(
                        row -> new ChangeIds(instance, row.getLong(1), row.getLong(2)),
                        "SELECT space, plain_ids FROM kg_space WHERE group_id = ?",
                        group)
                .orElse(null);
        if (ids == null) {
            return Optional.empty();
        }
        long number = ids.space();
        var defaults = new HashMap<Long, Double>();
        try (ResultSet rows = session.bind(
                        "SELECT name, value FROM kg_setting WHERE space = ? AND name LIKE 'certainty %'", number)
                .executeQuery()) {
            while (rows.next()) {
                DAMAGED.read(
                        rows,
                        row -> defaults.put(
                                Long.parseLong(DatabaseSession.text(row, 1).substring(CERTAINTY.length())),
                                Double.parseDouble(DatabaseSession.text(row, 2))));
            }
        }
        return Optional.of(new GroupCache(number, ids, Map.copyOf(defaults), provenance));
    }

    /**
     * Says how certain the statements of a graph are that do not say so themselves; null: not known.
     *
     * @param graph null for the default graph
     */
    public void defaultCertainty(String group, @Nullable String graph, @Nullable Double certainty) {
        record Changed(GroupCache space, long number) {}
        Changed changed = transact(
                group,
                (writing, session) -> {
                    writing.setting(CERTAINTY + writing.number(graph), certainty == null ? null : certainty.toString());
                    return new Changed(load(session, group), shared.changed(session));
                },
                done -> {
                    if (shared.isShared()) {
                        forgetSpaces(); // it may not be the newest one
                    } else {
                        spaces.put(group, done.space);
                    }
                });
        shared.await(changed.number);
    }

    @Override
    public <T> T read(String group, ReadFilter readFilter, Duration patience, Function<View, T> question) {
        return view(group, readFilter, patience, question::apply);
    }

    @Override
    public <T> T view(String group, ReadFilter readFilter, Duration patience, Function<GraphView, T> question) {
        return ask(group, patience, (session, space) -> question.apply(view(session, space, readFilter)));
    }

    @Override
    public <T> T lookUp(String group, ReadFilter readFilter, Function<GraphView, T> question) {
        return lookUp(group, (session, space) -> question.apply(view(session, space, readFilter)));
    }

    SqlView view(DatabaseSession session, GroupCache space, ReadFilter readFilter) {
        return new SqlView(session, space, terms, sql, readFilter);
    }

    /** Answers a question from one moment of a group's tables, on a thread that may compute. */
    public <T> T ask(String group, Duration patience, Asking<T> asking) {
        GroupCache space = space(group);
        return compute(
                group,
                patience,
                () -> reported(() -> readers.snapshot(patience, session -> asking.ask(session, space))));
    }

    /**
     * Answers a short question on the calling thread, by the readers of the tasks: it waits for no query. Each statement sees
     * a moment of its own.
     */
    public <T> T lookUp(String group, Asking<T> asking) {
        GroupCache space = space(group);
        return reported(() -> database.read(session -> asking.ask(session, space)));
    }

    private static <T> T reported(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (StoreException failure) {
            boolean timeout = failure instanceof ReadTimeoutException;
            throw new KnowledgeStoreException(requireNonNull(failure.getMessage()), failure, timeout);
        }
    }

    /**
     * Does work of a group that may take longer than a moment, on one of the threads that the groups share.
     *
     * @throws KnowledgeStoreException if it exceeds its timeout, or the group has too many running queries
     * @throws A2AException UNAVAILABLE if the caller has gone
     */
    public <T> T compute(String group, Duration patience, Supplier<T> work) {
        try {
            return pool.call(group, patience, work);
        } catch (TimeoutException late) {
            throw new KnowledgeStoreException("longer than " + patience, late, true);
        } catch (RejectedExecutionException busy) {
            throw KnowledgeStoreException.busy(busy);
        } catch (InterruptedException stopped) {
            throw interrupted();
        }
    }

    /** Returns what ends a request whose thread was interrupted: its caller has gone, or the hub stops. */
    public static A2AException interrupted() {
        Thread.currentThread().interrupt();
        return A2AException.unavailable("The request was given up", Duration.ofSeconds(1));
    }

    @Override
    public <T> T transact(String group, Change<T> change, Consumer<T> committed) {
        return transact(group, (writing, session) -> change.make(writing), committed);
    }

    /** A change of the tables of graphs. */
    public interface TableChange<T> {
        T make(SqlWriting writing, DatabaseSession session) throws SQLException;
    }

    /** Like {@link #transact(String, Change, Consumer)}, for changes that need the tables. */
    public <T> T transact(String group, TableChange<T> change, Consumer<T> committed) {
        return ChangeNumbers.patiently(() -> transactOnce(group, change, committed));
    }

    private <T> T transactOnce(String group, TableChange<T> change, Consumer<T> committed) {
        var work = new ChangeWork<T>(group, numbered(group), change, committed);
        database.submit(work);
        return joined(work.done);
    }

    /** A change on its way to the disk. */
    private final class ChangeWork<T> implements Work {
        private final String group;
        private final GroupCache space;
        private final TableChange<T> change;
        private final Consumer<T> committed;
        private final CompletableFuture<T> done = new CompletableFuture<>();
        private @Nullable T result;
        private @Nullable RuntimeException refusal;
        private int rows = 1;

        ChangeWork(String group, GroupCache space, TableChange<T> change, Consumer<T> committed) {
            this.group = group;
            this.space = space;
            this.change = change;
            this.committed = committed;
        }

        @Override
        public void write(DatabaseSession session) throws SQLException {
            refusal = null;
            terms.begin();
            try {
                write(session, numbers.begin(session, space.number()));
            } catch (ChangeNumbers.Contended met) {
                refusal = met;
            }
        }

        private void write(DatabaseSession session, ChangeNumbers.Counter counter) throws SQLException {
            long before = counter.newest();
            var writing = new SqlWriting(session, space, terms, sql, clock.millis(), counter);
            try {
                result = change.make(writing, session);
                rows = writing.rows();
                note(group, space, writing);
            } catch (StoreException | SQLException broken) {
                refusal = numbers.contention(space.number(), broken);
                if (refusal == null) {
                    throw broken;
                }
            } catch (RuntimeException refused) {
                refusal = refused;
            }
            if (refusal != null) {
                // Only this change is undone: the others of the group have nothing to do with it.
                numbers.undo(session, space.number(), counter, before);
                terms.undo();
            }
            numbers.end(session);
        }

        @Override
        @SuppressWarnings("NullAway") // what the change returned, which may be null if T allows it
        public void committed() {
            if (refusal == null) {
                committed.accept(result);
                done.complete(result);
            } else {
                done.completeExceptionally(refusal);
            }
        }

        @Override
        public int rows() {
            return rows;
        }

        @Override
        public String group() {
            return group;
        }

        @Override
        public void failed(Exception cause) {
            done.completeExceptionally(new KnowledgeStoreException("could not write", cause, false));
        }
    }

    private static <T> T joined(CompletableFuture<T> done) {
        try {
            return done.join();
        } catch (CompletionException failure) {
            throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
        }
    }

    /** Counts a change against the quota of its group, and adds it to the recent changes. */
    private void note(String group, GroupCache space, SqlWriting writing) throws SQLException {
        if (writing.isGrowing()) {
            database.storage().require(group, writing.bytes());
        }
        count(group, writing);
        if (shared.isShared() && writing.isUnnumbered()) {
            numbers.skip(space.number());
        }
        writing.tally((graph, predicate, more) ->
                changes.merge(new Tally(space.number(), graph, predicate), more, Long::sum));
        if (writing.isLoaded()) {
            recent.addUnlisted(group);
        } else {
            recent.add(group, writing.changed().keySet());
        }
    }

    /** Notes that statements of a group were changed in a way that no change says. On the writer thread. */
    void noteUnlisted(DatabaseSession session, String group, GroupCache space) throws SQLException {
        recent.addUnlisted(group);
        if (shared.isShared()) {
            var unused = numbers.lock(session, space.number());
            numbers.skip(space.number());
        }
    }

    /** Counts the bytes of a change for the quota of its group. */
    private void count(String group, SqlWriting writing) {
        Storage storage = database.storage();
        storage.add(group, Kind.KNOWLEDGE, writing.bytes());
        storage.add(group, Kind.CHANGES, writing.bytesOfChanges());
    }

    /** Like {@link #transact}, for changes that leave no trace of removed rows. */
    public <T> T erase(String group, TableChange<T> change) {
        return ChangeNumbers.patiently(() -> erase(group, false, change));
    }

    /** Removes those of some terms that no row of any group names any more, and returns them all. */
    public Collection<Long> eraseUnused(String group, Collection<Long> candidates) {
        return ChangeNumbers.patiently(() -> erase(group, !candidates.isEmpty(), (writing, session) -> {
            if (!candidates.isEmpty()) {
                terms.eraseUnused(session, candidates);
            }
            return candidates;
        }));
    }

    /** An erasure that was made; empty if other hubs have rows of it locked. */
    private record Erased<T>(Optional<T> result, long number) {}

    private <T> T erase(String group, boolean alsoTerms, TableChange<T> change) {
        GroupCache space = numbered(group);
        Erased<T> erased;
        try {
            erased = database.erase(session -> {
                terms.begin();
                ChangeNumbers.Counter counter = numbers.lockForErasure(session, space.number(), alsoTerms);
                if (counter == null) {
                    return new Erased<>(Optional.empty(), 0);
                }
                recent.addUnlisted(group);
                var writing = new SqlWriting(session, space, terms, sql, clock.millis(), counter);
                T result = change.make(writing, session);
                count(group, writing);
                return new Erased<>(Optional.of(result), shared.changed(session));
            });
        } finally {
            // Also if its commit failed, for it may have been done. Readers of earlier rows may go on filling the old
            // one.
            provenance = newCache();
            spaces.replaceAll((id, known) -> known.remembering(provenance));
        }
        shared.await(erased.number);
        return erased.result.orElseThrow(ChangeNumbers.Contended::new);
    }

    @Override
    public void beforeCommit(DatabaseSession session) throws SQLException {
        for (var change : changes.entrySet()) {
            if (change.getValue() != 0) {
                Tally key = change.getKey();
                session.later(
                        "INSERT INTO kg_tally (space, g, p, statements) VALUES (?, ?, ?, ?) ON CONFLICT (space, g, p)"
                                + " DO UPDATE SET statements = kg_tally.statements + excluded.statements",
                        key.space(),
                        key.graph(),
                        key.predicate(),
                        change.getValue());
            }
        }
        changes.clear();
        numbers.write(session);
    }

    @Override
    public void committed(int works) {
        numbers.unlock();
    }

    @Override
    public void rolledBack() {
        changes.clear();
        numbers.unlock();
    }

    @Override
    public void reopened(DatabaseSession session) {
        forgetSpaces();
    }

    private void forgetSpaces() {
        reopenings.incrementAndGet();
        spaces.clear();
    }

    /** Drops what another hub may have changed or erased. */
    private void forgetCopies(DatabaseSession session) throws SQLException {
        terms.requireErasures(session.number("SELECT max(erasures) FROM kg_space"));
        provenance = newCache();
        forgetSpaces();
    }

    /** Ends all computations. The database is closed by its owner. */
    @Override
    public void close() {
        pool.close();
    }
}
