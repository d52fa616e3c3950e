package dev.parley.registry.reports;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Request;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubObserver;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Operation;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import dev.parley.trust.Guard;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Measures of calls by hour, group, caller, agent and skill. The current hour is in memory, and is written {@link #PAUSE} after a change:
 * a crash loses at most that much. Safe for any thread.
 */
final class Usage implements HubObserver, AutoCloseable {
    static final String SCHEMA = """
            CREATE TABLE report_hour (
                hour_ms  BIGINT NOT NULL,
                group_id TEXT NOT NULL,
                caller   TEXT NOT NULL,
                agent    TEXT NOT NULL,
                skill    TEXT NOT NULL,
                hub_slot SMALLINT NOT NULL DEFAULT 0,
                measures TEXT NOT NULL,
                PRIMARY KEY (hour_ms, group_id, caller, agent, skill, hub_slot)
            );
            CREATE INDEX report_hour_by_caller ON report_hour (group_id, caller);
            """;

    static final ModuleTables TABLES =
            new ModuleTables("registry-reports", List.of(SCHEMA, HubSlots.SCHEMA, HubSlots.TIMES));

    /** Caller of the calls of an hour that exceed {@link #MOST_CELLS}. */
    static final String OTHER = "(other)";

    private static final System.Logger LOG = System.getLogger("dev.parley.registry");
    private static final long HOUR = TimeUnit.HOURS.toMillis(1);
    private static final Duration PAUSE = Duration.ofSeconds(10);
    private static final Duration KEPT = Duration.ofDays(400);
    private static final int MOST_CELLS = 10_000;
    private static final int RECENT = 1 << 10;
    private static final int LONGEST = 200;
    private static final String OF_HOUR =
            "SELECT group_id, caller, agent, skill, measures FROM report_hour WHERE hour_ms = ?";

    private static final String OF_SLOT = OF_HOUR + " AND hub_slot = ?";

    /** A row beside one that its hub has renamed has later calls. */
    private static final String RENAME_OF_SHARED =
            "UPDATE report_hour AS r SET caller = ? WHERE hour_ms = ? AND group_id = ?"
                    + " AND caller = ? AND NOT EXISTS (SELECT 1 FROM report_hour o WHERE o.hour_ms = r.hour_ms"
                    + " AND o.group_id = r.group_id AND o.caller = ? AND o.agent = r.agent AND o.skill = r.skill"
                    + " AND o.hub_slot = r.hub_slot)";

    /** Subject of measures. */
    record Key(String group, String caller, String agent, String skill) {
        boolean is(String group, String caller, String agent, String skill) {
            return this.caller.equals(caller)
                    && this.agent.equals(agent)
                    && this.group.equals(group)
                    && this.skill.equals(skill);
        }
    }

    /** Measures of a subject in an hour. */
    record Row(long hour, Key key, String measures) {}

    private static final class Cell {
        final long begin;
        final Key key;
        final Map<String, LongAdder> numbers = new ConcurrentHashMap<>();
        final AtomicBoolean changed = new AtomicBoolean();
        volatile boolean isErased;

        /** @param begin of the hour */
        Cell(long begin, Key key) {
            this.begin = begin;
            this.key = key;
        }

        void add(String name, long amount) {
            LongAdder known = numbers.get(name);
            (known != null ? known : numbers.computeIfAbsent(name, any -> new LongAdder())).add(amount);
            if (!changed.get()) {
                changed.set(true);
            }
        }

        String json() {
            var measures = new Measures();
            numbers.forEach((name, number) -> measures.add(name, number.sum()));
            return measures.json();
        }
    }

    private record Hour(long begin, Map<Key, Cell> cells) {}

    private final Database database;
    private final HubSlots slots;
    private final InstantSource clock;
    private final Executor later = CompletableFuture.delayedExecutor(
            PAUSE.toMillis(),
            TimeUnit.MILLISECONDS,
            task -> Thread.ofVirtual().name("reports").start(task));
    private final Series series;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    /** Hours that have ended since the last write. */
    private final Queue<Hour> past = new ConcurrentLinkedQueue<>();

    private final AtomicReference<Hour> hour;
    /** Cells by the hashes of their subjects: each call is counted several times, and makes no key where its cell is here. */
    private final AtomicReferenceArray<Cell> recent = new AtomicReferenceArray<>(RECENT);

    private final DamagedRows damaged = new DamagedRows("measures of the group");

    /** Held by the one write at a time. Calls are counted without it. */
    private final ReentrantLock writing = new ReentrantLock();

    private volatile boolean closed;

    Usage(Database database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
        this.series = new Series(clock);
        database.migrate(TABLES);
        this.slots = new HubSlots(database, clock);
        var now = new Hour(clock.millis() / HOUR * HOUR, new ConcurrentHashMap<>());
        this.hour = new AtomicReference<>(now);
        for (Row row : rows(now.begin(), OF_SLOT, now.begin(), slots.own())) {
            var known = new Measures();
            known.add(row.measures());
            var cell = new Cell(now.begin(), row.key());
            known.below("").forEach(cell::add);
            cell.changed.set(false);
            now.cells().put(row.key(), cell);
        }
        slots.keep(this::follow);
    }

    @Override
    public void called(String agent, Operation operation, CallContext caller, long nanos, @Nullable ErrorKind error) {
        Cell cell = cell(caller, agent, skill(operation));
        cell.add(Measures.CALLS.of(nanos), 1);
        if (error != null) {
            cell.add(Measures.ERROR + error.name(), 1);
        }
        series.count(agent, operation.name(), nanos, error != null);
    }

    @Override
    public void carried(String agent, Operation operation, CallContext caller, long received, long sent) {
        Cell cell = cell(caller, agent, skill(operation));
        if (received > 0) {
            cell.add(Measures.RECEIVED, received);
        }
        if (sent > 0) {
            cell.add(Measures.SENT, sent);
        }
    }

    @Override
    public void ran(String agent, Request request, long nanos) {
        Cell cell = cell(request.context(), agent, skill(request.message().metadata()));
        cell.add(Measures.RUNS.of(nanos), 1);
        request.task().ifPresent(task -> cell.add(Measures.TASK + task.state().name(), 1));
    }

    @Override
    public void offered(TaskKey task, String caller, boolean accepted) {
        cell(task.scope().group(), shortened(caller), task.agent(), "")
                .add(accepted ? Measures.ACCEPTED : Measures.REFUSED, 1);
    }

    /** The calls of the last hour, in steps. */
    Series series() {
        return series;
    }

    private static String skill(Operation operation) {
        if (operation instanceof Operation.Send send) {
            String named = skill(send.message().metadata());
            return named.isEmpty() ? skill(send.metadata()) : named;
        }
        return "";
    }

    private static String skill(Map<String, ?> metadata) {
        return metadata.get(Guard.SKILL) instanceof String named ? shortened(named) : "";
    }

    private static String shortened(String name) {
        return name.length() <= LONGEST ? name : name.substring(0, LONGEST);
    }

    private Cell cell(CallContext caller, String agent, String skill) {
        return cell(caller.scope().group(), shortened(caller.caller()), agent, skill);
    }

    private Cell cell(String group, String caller, String agent, String skill) {
        Hour now = now();
        if (!scheduled.get() && !closed && scheduled.compareAndSet(false, true)) {
            later.execute(this::write);
        }
        int hash = ((caller.hashCode() * 31 + agent.hashCode()) * 31 + skill.hashCode()) * 31 + group.hashCode();
        int place = (hash ^ hash >>> 16) & RECENT - 1;
        Cell last = recent.get(place);
        if (last != null && last.begin == now.begin() && !last.isErased && last.key.is(group, caller, agent, skill)) {
            return last;
        }
        var key = new Key(group, caller, agent, skill);
        Cell known = now.cells().get(key);
        if (known == null) {
            Key counted = now.cells().size() < MOST_CELLS ? key : new Key(group, OTHER, agent, "");
            known = now.cells().computeIfAbsent(counted, any -> new Cell(now.begin(), counted));
        }
        recent.set(place, known);
        return known;
    }

    private Hour now() {
        Hour now = requireNonNull(hour.get());
        long begin = clock.millis() / HOUR * HOUR;
        if (begin <= now.begin()) {
            return now;
        }
        if (hour.compareAndSet(now, new Hour(begin, new ConcurrentHashMap<>()))) {
            past.add(now);
        }
        return requireNonNull(hour.get());
    }

    /** Writes the changes. */
    void write() {
        writing.lock();
        try {
            if (!closed) {
                writeChanges();
            }
        } finally {
            writing.unlock();
        }
    }

    private void writeChanges() {
        scheduled.set(false);
        var ended = new ArrayList<Hour>();
        for (Hour one = past.poll(); one != null; one = past.poll()) {
            ended.add(one);
        }
        var hours = new ArrayList<>(ended);
        hours.add(hour.get());
        var rows = new ArrayList<Row>();
        var cells = new ArrayList<Cell>();
        for (Hour one : hours) {
            one.cells().forEach((key, cell) -> {
                if (cell.changed.getAndSet(false)) {
                    cells.add(cell);
                    rows.add(new Row(one.begin(), key, cell.json()));
                }
            });
        }
        try {
            database.writeInSlices(rows, false, this::write);
            if (!ended.isEmpty()) {
                removeOld();
            }
        } catch (StoreException failed) {
            past.addAll(ended); // the next write tries again
            cells.forEach(cell -> cell.changed.set(true));
            LOG.log(System.Logger.Level.WARNING, "reports: cannot write the measures of the last calls", failed);
        }
    }

    private int write(DatabaseSession session, Row row) throws SQLException {
        return session.update(
                "INSERT INTO report_hour (hour_ms, group_id, caller, agent, skill, hub_slot, measures)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)"
                        + " ON CONFLICT (hour_ms, group_id, caller, agent, skill, hub_slot)"
                        + " DO UPDATE SET measures = excluded.measures",
                row.hour(),
                row.key().group(),
                row.key().caller(),
                row.key().agent(),
                row.key().skill(),
                slots.own(),
                row.measures());
    }

    private void removeOld() {
        long end = clock.instant().minus(KEPT).toEpochMilli();
        List<Long> hours = database.read(session -> session.list(
                row -> row.getLong(1), "SELECT DISTINCT hour_ms FROM report_hour WHERE hour_ms < ? LIMIT 100", end));
        database.writeInSlices(
                hours, false, (session, old) -> session.update("DELETE FROM report_hour WHERE hour_ms = ?", old));
    }

    /** Writes the changes of all hubs. Missing may be those of the last second, and for 10 s those of a hub that does not answer. */
    private void writeAll() {
        write();
        boolean unused = slots.gather();
    }

    /** Writes the changes for another hub, and forgets the callers that it erases. */
    private void follow() {
        Map<String, String> erased = slots.erased();
        if (erased.isEmpty()) {
            write();
        } else {
            int unused = forget(key -> erased.get(HubSlots.hash(key.group(), key.caller())));
        }
    }

    /** Passes the rows of hours from {@code since} on, those before {@code until}. The current hour is up to date. */
    void read(Instant since, Instant until, @Nullable String group, Consumer<Row> reader) {
        writeAll();
        long from = since.toEpochMilli() / HOUR * HOUR;
        long end = until.toEpochMilli();
        while (true) {
            long begin = from;
            long next = database.read(session -> session.number(
                    "SELECT coalesce(min(hour_ms), -1) FROM report_hour WHERE hour_ms >= ? AND hour_ms < ?",
                    begin,
                    end));
            if (next < 0) {
                return;
            }
            for (Row row : of(next)) { // an hour at a time, so that no reader keeps a connection for long
                if (group == null || group.equals(row.key().group())) {
                    reader.accept(row);
                }
            }
            from = next + HOUR;
        }
    }

    private List<Row> of(long begin) {
        return rows(begin, OF_HOUR, begin);
    }

    private List<Row> rows(long begin, String sql, Object... values) {
        return database.read(session -> damaged.list(
                session,
                row -> {
                    String measures = DatabaseSession.text(row, 5);
                    new Measures().add(measures);
                    return new Row(
                            begin,
                            new Key(
                                    DatabaseSession.text(row, 1),
                                    DatabaseSession.text(row, 2),
                                    DatabaseSession.text(row, 3),
                                    DatabaseSession.text(row, 4)),
                            measures);
                },
                sql,
                values));
    }

    /** Measures of the calls of a principal in an hour, as the database has them. */
    record Measured(Instant hour, String agent, String skill, String measures) {}

    /** Rows of a caller, after the first {@code after}. */
    List<Measured> of(String group, String caller, long after, int limit) {
        writeAll();
        return database.read(session -> session.list(
                row -> new Measured(
                        Instant.ofEpochMilli(row.getLong(1)),
                        DatabaseSession.text(row, 2),
                        DatabaseSession.text(row, 3),
                        DatabaseSession.text(row, 4)),
                "SELECT hour_ms, agent, skill, measures FROM report_hour WHERE group_id = ? AND caller = ?"
                        + " ORDER BY hour_ms, agent, skill, hub_slot LIMIT ? OFFSET ?",
                group,
                caller,
                limit,
                after));
    }

    /** Replaces the name of a caller; its numbers stay. Returns the number of rows. */
    int erase(String group, String caller) {
        String pseudonym = "erased-" + UUID.randomUUID();
        int own = forget(key -> key.group().equals(group) && key.caller().equals(caller) ? pseudonym : null);
        return own + slots.erase(group, caller, pseudonym, name -> rename(group, caller, name));
    }

    /**
     * Writes the changes, and forgets the cells of some callers, after which none of the hour counts calls until now. Renames their rows if
     * hubs share the database.
     *
     * @param pseudonyms null for callers that stay
     * @return how many rows were renamed
     */
    private int forget(Function<Key, @Nullable String> pseudonyms) {
        var forgotten = new HashMap<Cell, String>();
        writing.lock();
        try {
            write(); // after which none names the caller for calls until now
            requireNonNull(hour.get()).cells().values().removeIf(cell -> {
                String pseudonym = pseudonyms.apply(cell.key);
                if (pseudonym == null) {
                    return false;
                }
                cell.isErased = true; // before it is removed, so that calls count in another one
                forgotten.put(cell, pseudonym);
                return true;
            });
            int changed = 0;
            for (Map.Entry<Cell, String> each : forgotten.entrySet()) { // before later calls are written
                Cell cell = each.getKey();
                changed += slots.rename(cell.begin, cell.key, each.getValue());
            }
            return changed;
        } finally {
            writing.unlock();
        }
    }

    /** Replaces the name in all rows of the database. */
    int rename(String group, String caller, String pseudonym) {
        List<Long> hours = database.read(session -> session.list(
                row -> row.getLong(1),
                "SELECT DISTINCT hour_ms FROM report_hour WHERE group_id = ? AND caller = ?",
                group,
                caller));
        if (slots.areShared()) {
            return database.writeInSlices(
                    hours,
                    true,
                    (session, begin) -> session.update(RENAME_OF_SHARED, pseudonym, begin, group, caller, pseudonym));
        }
        return database.writeInSlices(
                hours,
                true,
                (session, begin) -> session.update(
                        "UPDATE report_hour SET caller = ? WHERE hour_ms = ? AND group_id = ? AND caller = ?",
                        pseudonym,
                        begin,
                        group,
                        caller));
    }

    @Override
    public void close() {
        write();
        closed = true;
    }
}
