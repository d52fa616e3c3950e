package dev.parley.hub.extensions;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubTimers;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Lazy;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.spi.ModuleTables;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Timers in a table of a database. A timer that is taken becomes due again after a while, so that neither a crash loses it, nor another
 * hub that sees it at the same moment calls its handler a second time. A timer is removed in a transaction of its own, after its handler
 * has returned: one whose hub ends in between is called again, unless a transaction of the handler has set it anew.
 *
 * <p>Hubs that share the database look for timers of each other once a second, see {@link SharedTimers}; each sets alarms for its own
 * ones. Safe for any thread.
 */
final class DurableTimers implements HubTimers, GroupListener, AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.hub");
    static final ModuleTables TABLES = new ModuleTables("extension timers", List.of("""
            CREATE TABLE extension_timer (
                name     TEXT NOT NULL,
                id       TEXT NOT NULL,
                due_ms   BIGINT NOT NULL,
                failures INTEGER NOT NULL,
                content  TEXT NOT NULL,
                PRIMARY KEY (name, id)
            ) ROWLESS;
            CREATE INDEX extension_timer_due ON extension_timer (name, due_ms);
            """, """
            -- With a number of its own, because contents may be long.
            CREATE TABLE extension_keyed_timer (
                name     TEXT NOT NULL,
                id       TEXT NOT NULL,
                due_ms   BIGINT NOT NULL,
                failures INTEGER NOT NULL,
                content  TEXT NOT NULL,
                PRIMARY KEY (name, id)
            );
            INSERT INTO extension_keyed_timer (name, id, due_ms, failures, content)
                SELECT name, id, due_ms, failures, content FROM extension_timer;
            DROP TABLE extension_timer;
            ALTER TABLE extension_keyed_timer RENAME TO extension_timer;
            CREATE INDEX extension_timer_due ON extension_timer (name, due_ms);
            """, """
            -- The stream of the hub whose handler runs; null if none does, or if one hub has the database alone.
            ALTER TABLE extension_timer ADD COLUMN claimed_by BIGINT;
            CREATE INDEX extension_timer_claimed ON extension_timer (claimed_by) WHERE claimed_by IS NOT NULL;
            """));

    /** Timers of one name whose handlers run at the same time. */
    private static final int AT_ONCE = 64;

    /** Timers that an erasure reads at once. */
    private static final int PAGE = 1_000;

    /** Timers of hubs that share the database. Hubs need no hint of new ones, which are due later, or run at the hub that sets them. */
    private static final String FEED = "timers";

    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final Backoff READS = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(1));
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(10));

    private final Lazy<Database> database;
    private final InstantSource clock;
    private final Map<String, Named> handlers = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor alarm;
    /** The time of the next look into the table. */
    private long armed = Long.MAX_VALUE;

    /** The earliest time that the transaction in the making sets; for the writer thread only. */
    private long unwritten = Long.MAX_VALUE;

    /** Looks into the table in a row that have failed. */
    private final AtomicInteger unreadable = new AtomicInteger();

    private volatile boolean open;

    /** The timers of all hubs that share the database; null for a hub that has it alone. Set before the first handler is. */
    private volatile @Nullable SharedTimers shared;

    /** A handler, and how many more of its timers may run, so that slow ones delay no timers of other names. */
    private record Named(Handler handler, Semaphore free, AtomicBoolean full) {}

    /** @param due time at which it is due, for a timer that is taken the end of its lease */
    record Row(String name, String id, long due, int failures, String content) {}

    /** @param opened returns the database, at the first use */
    DurableTimers(Supplier<Database> opened, InstantSource clock) {
        this.database = new Lazy<>(() -> {
            Database tables = opened.get();
            tables.migrate(TABLES);
            shared = tables.access().feeds().isShared() ? new SharedTimers(tables) : null;
            tables.listen(this);
            return tables;
        });
        this.clock = clock;
        this.alarm = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("timers").factory());
        alarm.setRemoveOnCancelPolicy(true);
        alarm.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    @Override
    public Timers named(String name, Handler handler) {
        if (handlers.putIfAbsent(name, new Named(handler, new Semaphore(AT_ONCE), new AtomicBoolean())) != null) {
            throw new IllegalArgumentException("timers \"" + name + "\": duplicate name");
        }
        Database tables = database();
        return new Timers() {
            @Override
            public void set(String id, Instant due, String content) {
                tables.write(session -> {
                    set(session, id, due, content);
                    return id;
                });
            }

            @Override
            public void set(DatabaseSession session, String id, Instant due, String content) throws SQLException {
                DurableTimers.this.set(session, new Row(name, id, due.toEpochMilli(), 0, content));
            }

            @Override
            public void cancel(String id) {
                tables.write(
                        session -> session.update("DELETE FROM extension_timer WHERE name = ? AND id = ?", name, id));
            }

            @Override
            public int erase(Function<String, @Nullable String> change) {
                return tables.writeInSlices(
                        new Row(name, "", 0, 0, ""),
                        DurableTimers::after,
                        true,
                        () -> true,
                        (session, row) -> DurableTimers.erase(session, row, change.apply(row.content())));
            }
        };
    }

    private void set(DatabaseSession session, Row row) throws SQLException {
        SharedTimers all = shared;
        if (all == null) {
            session.update("DELETE FROM extension_timer WHERE name = ? AND id = ?", row.name(), row.id());
            session.update(
                    "INSERT INTO extension_timer (name, id, due_ms, failures, content) VALUES (?, ?, ?, 0, ?)",
                    row.name(),
                    row.id(),
                    row.due(),
                    row.content());
        } else {
            all.set(session, row, row.due() - clock.millis());
        }
        unwritten = Math.min(unwritten, row.due());
    }

    private static List<Row> after(DatabaseSession session, Row last) throws SQLException {
        return session.list(
                row -> new Row(
                        last.name(),
                        DatabaseSession.text(row, 1),
                        row.getLong(2),
                        row.getInt(3),
                        DatabaseSession.text(row, 4)),
                "SELECT id, due_ms, failures, content FROM extension_timer WHERE name = ? AND id > ? ORDER BY id LIMIT "
                        + PAGE,
                last.name(),
                last.id());
    }

    /** Changes the content of a timer, unless it was set anew since it was read; null removes the timer. */
    private static int erase(DatabaseSession session, Row row, @Nullable String left) throws SQLException {
        if (left == null) {
            return session.update(
                    "DELETE FROM extension_timer WHERE name = ? AND id = ? AND content = ?",
                    row.name(),
                    row.id(),
                    row.content());
        }
        return left.equals(row.content())
                ? 0
                : session.update(
                        "UPDATE extension_timer SET content = ? WHERE name = ? AND id = ? AND content = ?",
                        left,
                        row.name(),
                        row.id(),
                        row.content());
    }

    /** Calls handlers from now on. */
    void start() {
        open = true;
        if (!handlers.isEmpty()) {
            database().access().feeds().follow(FEED, this::lookForOthers);
            arm(0);
        }
    }

    private Database database() {
        return database.get();
    }

    @Override
    public void committed(int works) {
        if (unwritten != Long.MAX_VALUE) {
            arm(unwritten);
            unwritten = Long.MAX_VALUE;
        }
    }

    @Override
    public void rolledBack() {
        unwritten = Long.MAX_VALUE;
    }

    private void arm(long due) {
        synchronized (alarm) { // which no thread holds during I/O, as the writer comes here
            if (open && due < armed) {
                armed = due;
                var unused = alarm.schedule(
                        () -> Thread.ofVirtual().name("timers").start(this::look),
                        Math.max(0, due - clock.millis()),
                        TimeUnit.MILLISECONDS);
            }
        }
    }

    /** Takes the timers that are due, and sets the alarm for the next one. */
    private void look() {
        synchronized (alarm) {
            armed = Long.MAX_VALUE;
        }
        try {
            SharedTimers all = shared;
            if (all == null) {
                handlers.forEach(this::look);
            } else {
                look(all).forEach(wait -> arm(clock.millis() + wait));
            }
            unreadable.set(0);
        } catch (RuntimeException failure) {
            if (!open) {
                return; // they become due after the next start
            }
            Duration pause = READS.bound(unreadable.incrementAndGet());
            LOG.log(Level.WARNING, "timers of extensions cannot be read; the next attempt is in " + pause, failure);
            arm(clock.millis() + pause.toMillis());
        }
    }

    private void look(String name, Named named) {
        due(name).forEach(row -> take(named, row));
        named.full().set(true);
        if (named.free().availablePermits() > 0) { // else the end of a handler sets the alarm
            named.full().set(false);
            armNext(name);
        }
    }

    /** Takes timers that other hubs have set, or had taken when they ended. Once a second. */
    private void lookForOthers() {
        SharedTimers all = shared;
        if (all != null && open) {
            look(all);
        }
    }

    /** Takes the timers of all hubs that are due, and returns the milliseconds after which to look again. */
    private List<Long> look(SharedTimers all) {
        var waits = new ArrayList<Long>();
        all.next(handlers.keySet()).forEach((name, wait) -> {
            if (wait > 0) {
                waits.add(wait);
            } else if (takeDue(all, name, requireNonNull(handlers.get(name)))) {
                waits.add(0L);
            }
        });
        return waits;
    }

    /** Takes as many timers as may run. Returns false if there were none: other hubs have been faster. */
    private boolean takeDue(SharedTimers all, String name, Named named) {
        int free = named.free().drainPermits();
        int used = 0;
        try {
            named.full().set(free == 0); // then the end of a handler sets the alarm
            for (Row row : open && free > 0 ? all.claim(name, free, LEASE) : List.<Row>of()) {
                Thread.ofVirtual().name("timer").start(() -> handle(named, row, row.due()));
                used++;
            }
        } finally {
            named.free().release(free - used);
        }
        return used > 0;
    }

    private List<Row> due(String name) {
        return database()
                .read(session -> session.list(
                        row -> new Row(
                                name,
                                DatabaseSession.text(row, 1),
                                row.getLong(2),
                                row.getInt(3),
                                DatabaseSession.text(row, 4)),
                        "SELECT id, due_ms, failures, content FROM extension_timer WHERE name = ? AND due_ms <= ?"
                                + " ORDER BY due_ms LIMIT " + AT_ONCE,
                        name,
                        clock.millis()));
    }

    private void armNext(String name) {
        List<Long> next = database()
                .read(session -> session.list(
                        row -> row.getLong(1),
                        "SELECT due_ms FROM extension_timer WHERE name = ? ORDER BY due_ms LIMIT 1",
                        name));
        next.forEach(this::arm);
    }

    private void take(Named named, Row row) {
        if (!named.free().tryAcquire()) {
            return;
        }
        boolean taken = false;
        try {
            long leased = clock.millis() + LEASE.toMillis();
            taken = open && move(row, row.due(), leased, row.failures());
            if (taken) {
                Thread.ofVirtual().name("timer").start(() -> handle(named, row, leased));
            }
        } finally {
            if (!taken) {
                named.free().release();
            }
        }
    }

    /** Makes a timer due at another time, unless it was set anew or taken meanwhile. */
    private boolean move(Row row, long from, long to, int failures) {
        return database()
                        .write(session -> session.update(
                                "UPDATE extension_timer SET due_ms = ?, failures = ? WHERE name = ? AND id = ? AND due_ms = ?",
                                to,
                                failures,
                                row.name(),
                                row.id(),
                                from))
                > 0;
    }

    private void handle(Named named, Row row, long leased) {
        Future<?> limit = alarm.schedule(Thread.currentThread()::interrupt, LEASE.toMillis(), TimeUnit.MILLISECONDS);
        try {
            named.handler().due(row.id(), row.content());
            database()
                    .write(session -> session.update(
                            "DELETE FROM extension_timer WHERE name = ? AND id = ? AND due_ms = ?",
                            row.name(),
                            row.id(),
                            leased));
        } catch (Exception failure) {
            if (open) {
                repeat(row, leased, failure);
            }
        } finally {
            limit.cancel(false);
            named.free().release();
            if (named.full().getAndSet(false)) {
                arm(clock.millis());
            }
        }
    }

    private void repeat(Row row, long leased, Exception failure) {
        long pause = PAUSES.bound(row.failures() + 1).toMillis();
        LOG.log(
                Level.WARNING,
                "timer " + row.name() + " \"" + row.id() + "\" failed; the next attempt is in " + pause / 1_000 + " s",
                failure);
        long next = clock.millis() + pause;
        SharedTimers all = shared;
        if (all == null ? move(row, leased, next, row.failures() + 1) : all.repeat(row, pause)) {
            arm(next);
        }
    }

    /** Calls no handlers any more; timers that are left become due after the next start. */
    @Override
    public void close() {
        open = false;
        alarm.shutdownNow();
    }
}
