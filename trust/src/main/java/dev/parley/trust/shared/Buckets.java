package dev.parley.trust.shared;

import dev.parley.store.database.Database;
import dev.parley.store.shared.Epochs;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Calls that all hubs of a database may make together, by accounts. A hub borrows some at a time, and borrows again when it has used
 * them. Times are those of the database. Safe for any thread.
 */
public final class Buckets {
    /** The calls of a bucket before a loan. */
    private static final String LEVEL =
            "least(?2, b.calls + ?4 * greatest(0, extract(epoch FROM statement_timestamp() - b.at)))";

    private static final String OF_RATE = "INSERT INTO trust_bucket AS b (account, day, calls, lent, at)"
            + " VALUES (?1, 0, ?2 - ?3, ?3, statement_timestamp()) ON CONFLICT (account) DO UPDATE SET"
            + " lent = least(?3, floor(LEVEL)), calls = LEVEL - least(?3, floor(LEVEL)),"
            + " at = greatest(b.at, statement_timestamp()) RETURNING lent, calls";

    private static final String OF_DAY = "INSERT INTO trust_bucket AS b (account, day, calls, lent, at)"
            + " VALUES (?1, ?2, ?4 - ?3, ?3, statement_timestamp()) ON CONFLICT (account) DO UPDATE SET"
            + " lent = least(?3, LEFT), calls = LEFT - least(?3, LEFT), day = greatest(b.day, ?2),"
            + " at = statement_timestamp() RETURNING lent, calls";

    /** Accounts of windows, such as the addresses of callers, come and go. */
    private static final String REMOVE_OLD =
            "DELETE FROM trust_bucket WHERE account LIKE 'window %' AND at < statement_timestamp() - interval '1 hour'";

    /** Time between two removals of old rows by this hub. */
    private static final Duration REMOVAL = Duration.ofMinutes(1);

    /** The calls of a day that are left before a loan; another hub may have begun a later day. */
    private static final String LEFT = "(CASE WHEN b.day >= ?2 THEN b.calls ELSE ?4 END)";

    /**
     * Calls that were borrowed.
     *
     * @param left those that are left in the bucket
     */
    public record Loan(long calls, double left) {}

    private final Database database;
    private final Epochs epochs;
    private final AtomicLong removed = new AtomicLong(System.nanoTime());

    private Buckets(Database database) {
        this.database = database;
        this.epochs = database.access().epochs();
    }

    /** The accounts of a database that several hubs share; null for one that a hub has alone. */
    public static @Nullable Buckets of(Database database) {
        if (!database.access().epochs().isShared()) {
            return null;
        }
        database.migrate(SharedTables.TABLES);
        return new Buckets(database);
    }

    /** The hubs that work with the database, as of the latest renewal of the lease. */
    public int hubs() {
        return epochs.hubs();
    }

    /**
     * Borrows calls of a bucket that fills steadily.
     *
     * @param most calls in a full bucket
     * @param calls at most {@code most}
     */
    public Loan ofRate(String account, double perSecond, double most, long calls) {
        return loan(OF_RATE.replace("LEVEL", LEVEL), "rate " + account, most, (double) calls, perSecond);
    }

    /**
     * Borrows calls of a day.
     *
     * @param day in days since 1970
     * @param calls at most {@code perDay}
     */
    public Loan ofDay(String account, long day, long perDay, long calls) {
        return loan(OF_DAY.replace("LEFT", LEFT), "day " + account, day, (double) calls, (double) perDay);
    }

    /**
     * Borrows calls of a window of time, such as a minute. The account is forgotten an hour after its last call.
     *
     * @param window number of the window: the next one for a later one
     * @param calls at most {@code perWindow}
     */
    public Loan ofWindow(String account, long window, long perWindow, long calls) {
        long now = System.nanoTime();
        long before = removed.get();
        if (now - before > REMOVAL.toNanos() && removed.compareAndSet(before, now)) {
            var unused = database.write(session -> session.update(REMOVE_OLD));
        }
        return loan(OF_DAY.replace("LEFT", LEFT), "window " + account, window, (double) calls, (double) perWindow);
    }

    private Loan loan(String sql, Object... values) {
        return database.write(session -> session.first(row -> new Loan(row.getLong(1), row.getDouble(2)), sql, values)
                .orElseThrow());
    }
}
