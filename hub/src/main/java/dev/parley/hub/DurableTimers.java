package dev.parley.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.extension.HubTimers;
import dev.parley.store.database.Database;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.Session;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Timers in a table of a database. A timer that is taken becomes due again after a while, so that neither a crash loses it, nor another
 * hub that sees it at the same moment calls its handler a second time. Safe for any thread.
 */
final class DurableTimers implements HubTimers, GroupListener, AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.hub");
    private static final List<String> SCHEMA = List.of("""
            CREATE TABLE extension_timer (
                name     TEXT NOT NULL,
                id       TEXT NOT NULL,
                due_ms   BIGINT NOT NULL,
                failures INTEGER NOT NULL,
                content  TEXT NOT NULL,
                PRIMARY KEY (name, id)
            ) ROWLESS;
            CREATE INDEX extension_timer_due ON extension_timer (name, due_ms);
            """);

    /** Timers whose handlers run at the same time. */
    private static final int AT_ONCE = 64;

    private static final Duration LEASE = Duration.ofMinutes(5);
    private static final Duration READ_PAUSE = Duration.ofSeconds(10);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);
    private static final int MOST_DOUBLED = 10;

    private final Supplier<Database> opened;
    private final InstantSource clock;
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();
    private final Semaphore free = new Semaphore(AT_ONCE);
    private final ScheduledThreadPoolExecutor alarm;
    private @Nullable Database database;
    /** The time of the next look into the table. */
    private long armed = Long.MAX_VALUE;

    /** The earliest time that the transaction in the making sets; for the writer thread only. */
    private long unwritten = Long.MAX_VALUE;

    private volatile boolean open;

    private record Row(String name, String id, long due, int failures, String content) {}

    /** @param opened returns the database, at the first use */
    DurableTimers(Supplier<Database> opened, InstantSource clock) {
        this.opened = opened;
        this.clock = clock;
        this.alarm = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("timers").factory());
        alarm.setRemoveOnCancelPolicy(true);
        alarm.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    @Override
    public Timers named(String name, Handler handler) {
        if (handlers.putIfAbsent(name, handler) != null) {
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
            public void set(Session session, String id, Instant due, String content) throws SQLException {
                session.update("DELETE FROM extension_timer WHERE name = ? AND id = ?", name, id);
                session.update(
                        "INSERT INTO extension_timer (name, id, due_ms, failures, content) VALUES (?, ?, ?, 0, ?)",
                        name,
                        id,
                        due.toEpochMilli(),
                        content);
                unwritten = Math.min(unwritten, due.toEpochMilli());
            }

            @Override
            public void cancel(String id) {
                tables.write(
                        session -> session.update("DELETE FROM extension_timer WHERE name = ? AND id = ?", name, id));
            }
        };
    }

    /** Calls handlers from now on. */
    void start() {
        open = true;
        if (!handlers.isEmpty()) {
            arm(0);
        }
    }

    private synchronized Database database() {
        if (database == null) {
            database = opened.get();
            database.migrate("extension timers", SCHEMA);
            database.listen(this);
        }
        return database;
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
            for (String name : handlers.keySet()) {
                List<Row> due = due(name);
                for (Row row : due) {
                    take(row);
                }
            }
            handlers.keySet().forEach(this::armNext);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException unreadable) {
            LOG.log(
                    Level.WARNING,
                    "timers of extensions cannot be read; the next attempt is in " + READ_PAUSE,
                    unreadable);
            arm(clock.millis() + READ_PAUSE.toMillis());
        }
    }

    private List<Row> due(String name) {
        return database()
                .read(session -> session.list(
                        row -> new Row(name, Session.text(row, 1), row.getLong(2), row.getInt(3), Session.text(row, 4)),
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

    private void take(Row row) throws InterruptedException {
        free.acquire();
        boolean taken = false;
        try {
            long leased = clock.millis() + LEASE.toMillis();
            taken = open && move(row, row.due(), leased, row.failures());
            if (taken) {
                Thread.ofVirtual().name("timer").start(() -> handle(row, leased));
            }
        } finally {
            if (!taken) {
                free.release();
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

    private void handle(Row row, long leased) {
        Future<?> limit = alarm.schedule(Thread.currentThread()::interrupt, LEASE.toMillis(), TimeUnit.MILLISECONDS);
        try {
            requireNonNull(handlers.get(row.name())).due(row.id(), row.content());
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
            free.release();
        }
    }

    private void repeat(Row row, long leased, Exception failure) {
        long pause =
                Math.min(LONGEST_PAUSE.toMillis(), FIRST_PAUSE.toMillis() << Math.min(row.failures(), MOST_DOUBLED));
        LOG.log(
                Level.WARNING,
                "timer " + row.name() + " \"" + row.id() + "\" failed; the next attempt is in " + pause / 1_000 + " s",
                failure);
        long next = clock.millis() + pause;
        if (move(row, leased, next, row.failures() + 1)) {
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
