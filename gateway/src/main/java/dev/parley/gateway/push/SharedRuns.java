package dev.parley.gateway.push;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Feeds;
import dev.parley.store.shared.KeyLocks;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Runs of shadows at the hubs that share a database of PostgreSQL: a row for each run with the number of its hub, and news for the hubs
 * that run them. A run of a hub that has ended can be taken by another one.
 *
 * <p>Without other hubs there are no rows, and no statement is run. Safe for any thread.
 */
final class SharedRuns {
    private static final ModuleTables TABLES = new ModuleTables("gateway of several hubs", List.of("""
            CREATE TABLE gateway_run (
                shadow TEXT PRIMARY KEY,
                hub_no BIGINT NOT NULL
            );
            CREATE INDEX gateway_run_by_hub ON gateway_run (hub_no, shadow);
            CREATE TABLE gateway_news (
                shadow  TEXT NOT NULL,
                made_by XID8 NOT NULL DEFAULT pg_current_xact_id(),
                made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
            );
            CREATE INDEX gateway_news_by_transaction ON gateway_news (made_by);
            """));

    private static final String FEED = "gateway-push";
    private static final String KEY = "gateway_run ";

    /** Time between two removals of old news by this hub. Others have looked at them once a second. */
    private static final Duration REMOVAL = Duration.ofMinutes(1);

    private static final String REMOVE_OLD = "DELETE FROM gateway_news WHERE ctid IN (SELECT ctid FROM gateway_news"
            + " WHERE made_at < clock_timestamp() - interval '1 minute' FOR UPDATE SKIP LOCKED)";

    /**
     * News of transactions that may have been running at an earlier look. Their order is not that of their commits, so news since the oldest
     * one that was running then are read again, for a minute at most: any transaction of the server counts, also one that runs for hours.
     */
    private static final String NEWS =
            "SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT), array_to_string(ARRAY("
                    + "SELECT DISTINCT shadow FROM gateway_news WHERE made_by >= CAST(? AS XID8)"
                    + " AND made_at > clock_timestamp() - interval '1 minute'), ' ')";

    /** Hubs with runs that have ended. Looks into the index once for each hub, and not for each row. */
    private static final String ENDED = "WITH RECURSIVE hubs (no) AS (SELECT min(hub_no) FROM gateway_run"
            + " UNION ALL SELECT (SELECT min(hub_no) FROM gateway_run WHERE hub_no > no) FROM hubs WHERE no IS NOT NULL)"
            + " SELECT no FROM hubs WHERE no IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stream WHERE stream.hub_no = no)";

    /** A run of another hub. */
    record Run(String shadow, long hub) {}

    private record News(String next, String shadows) {}

    private final Database database;
    private final KeyLocks locks;
    private final Feeds feeds;
    private final long hub;
    private final AtomicLong removed = new AtomicLong(System.nanoTime());
    private String newest = "0"; // only for the thread that looks

    SharedRuns(Database database) {
        this.database = database;
        this.locks = new KeyLocks(database.access().epochs());
        this.feeds = database.access().feeds();
        this.hub = database.access().hub();
        if (isShared()) {
            database.migrate(TABLES);
        }
    }

    /** Whether other hubs may run shadows. */
    boolean isShared() {
        return locks.isShared();
    }

    /** The hubs that work with the database, as of the latest renewal of the lease. */
    int hubs() {
        return database.access().epochs().hubs();
    }

    KeyLocks locks() {
        return locks;
    }

    /** Has the hub that runs a shadow look at its relay, with the transaction. */
    void tell(DatabaseSession session, String shadow) throws SQLException {
        if (!isShared()) {
            return;
        }
        long now = System.nanoTime();
        long before = removed.get();
        if (now - before > REMOVAL.toNanos() && removed.compareAndSet(before, now)) {
            session.update(REMOVE_OLD);
        }
        session.update("INSERT INTO gateway_news (shadow) VALUES (?)", shadow);
    }

    /** {@link #tell(DatabaseSession, String)} in a transaction of its own. */
    void tell(String shadow) {
        if (isShared()) {
            String unused = database.write(session -> {
                tell(session, shadow);
                return shadow;
            });
            told();
        }
    }

    /** A transaction with news was committed. */
    void told() {
        feeds.tell(FEED);
    }

    /** Has news looked for, by {@link #news}, and runs of hubs that have ended. */
    void follow(Runnable look) {
        feeds.follow(FEED, look);
    }

    /** Returns shadows with news since the last call, and some from before. For one thread. */
    List<String> news() {
        News found = database.read(session -> session.first(
                        row -> new News(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)), NEWS, newest))
                .orElseThrow();
        newest = found.next;
        return found.shadows.isEmpty() ? List.of() : List.of(found.shadows.split(" ", -1));
    }

    /** This hub runs a shadow. */
    void begin(String shadow) {
        if (isShared()) {
            var unused = locks.patiently(() -> database.write(session -> locks.take(session, KEY + shadow)
                    ? Optional.of(session.update(
                            "INSERT INTO gateway_run (shadow, hub_no) VALUES (?, ?) ON CONFLICT (shadow)"
                                    + " DO UPDATE SET hub_no = excluded.hub_no",
                            shadow,
                            hub))
                    : Optional.empty()));
        }
    }

    /** The run of a shadow by this hub is over. */
    void end(String shadow) {
        if (isShared()) {
            var unused = locks.patiently(() -> database.write(session -> locks.take(session, KEY + shadow)
                    ? Optional.of(
                            session.update("DELETE FROM gateway_run WHERE shadow = ? AND hub_no = ?", shadow, hub))
                    : Optional.empty()));
        }
    }

    /** Whether a shadow is run by another hub, or by one that has ended, and whose runs are taken. */
    boolean isElsewhere(String shadow) {
        return isShared()
                && database.<Long>read(session -> session.number(
                                "SELECT count(*) FROM gateway_run WHERE shadow = ? AND hub_no <> ?", shadow, hub))
                        > 0;
    }

    /** Takes a shadow without a run; false if it has one. */
    boolean takeFree(String shadow) {
        return database.write(session -> locks.take(session, KEY + shadow)
                        ? session.update(
                                "INSERT INTO gateway_run (shadow, hub_no) VALUES (?, ?) ON CONFLICT DO NOTHING",
                                shadow,
                                hub)
                        : 0)
                > 0;
    }

    /** Hubs with runs that have ended. */
    List<Long> ended() {
        return database.read(session -> session.list(row -> row.getLong(1), ENDED));
    }

    /** Runs of a hub whose shadows have ids after one, by id. */
    List<Run> of(long owner, String after, int limit) {
        return database.read(session -> session.list(
                row -> new Run(DatabaseSession.text(row, 1), owner),
                "SELECT shadow FROM gateway_run WHERE hub_no = ? AND shadow > ? ORDER BY shadow LIMIT " + limit,
                owner,
                after));
    }

    /** Runs of this hub, by id. */
    List<Run> own(String after, int limit) {
        return of(hub, after, limit);
    }

    /** Takes a run of a hub that has ended; false if another hub has done so. */
    boolean take(Run run) {
        return move(run.shadow, run.hub, hub);
    }

    /** Gives back what {@link #take} has taken, for a later attempt. */
    void giveBack(Run run) {
        boolean unused = move(run.shadow, hub, run.hub);
    }

    private boolean move(String shadow, long from, long to) {
        return database.write(session -> locks.take(session, KEY + shadow)
                        ? session.update(
                                "UPDATE gateway_run SET hub_no = ? WHERE shadow = ? AND hub_no = ?", to, shadow, from)
                        : 0)
                > 0;
    }

    /** Removes a run, if its relay has no events after a number, which must not be written meanwhile. */
    boolean remove(Run run, String relay, long emitted) {
        return database.write(session -> locks.take(session, KEY + run.shadow, RelayTable.KEY + relay)
                        ? session.update(
                                "DELETE FROM gateway_run WHERE shadow = ? AND hub_no = ? AND NOT EXISTS (SELECT 1"
                                        + " FROM gateway_relay_event WHERE relay = ? AND number > ?)",
                                run.shadow,
                                run.hub,
                                relay,
                                emitted)
                        : 0)
                > 0;
    }
}
