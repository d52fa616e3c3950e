package dev.parley.store.shared;

import dev.parley.store.spi.ClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of changes, by the kinds of rows of which hubs have copies in memory. A change increments the number in its transaction. Each
 * hub reads the numbers with the renewal of its lease, and earlier after a {@code NOTIFY}, then reads its copy again and writes the
 * number that it has seen. A barrier waits until all hubs that work with the database have seen a change.
 *
 * <p>A hub whose copy is out of date, or may be, for as long as a lease without a renewal answers nothing. A hub that has its database
 * alone runs no statement for any of this. Safe for any thread.
 */
public final class Epochs {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Longest time of a barrier. By then each hub has seen the change, has ended, or answers nothing. */
    public static final Duration LONGEST_BARRIER = Duration.ofSeconds(10);

    /** Numbers of a database that one hub uses: none is counted. */
    public static final Epochs NONE = new Epochs(false, 0);

    /** Name of the channel of hints. */
    public static final String CHANNEL = "'parley_' || hashtext(current_schema()) || '_epochs'";

    private static final String BUMP = "INSERT INTO epoch (kind, n) VALUES (?, 1)"
            + " ON CONFLICT (kind) DO UPDATE SET n = epoch.n + 1 RETURNING n";

    /** A hub that works with the database and has not seen a change; 0 if there is none. */
    private static final String BEHIND =
            "SELECT coalesce(min(hub_no), 0) FROM hub WHERE ended_at IS NULL AND hub_no <> ?"
                    + " AND coalesce(seen[?], -1) < ? AND EXISTS (SELECT 1 FROM stream WHERE stream.hub_no = hub.hub_no)";

    private static final String HINT = "SELECT length(CAST(pg_notify(" + CHANNEL + ", ?) AS TEXT))";

    private static final String CHANGED = "changed ";
    private static final String SEEN = "seen ";
    private static final long NOTHING = -1;

    /** Runs a statement whose answer is a number. */
    @FunctionalInterface
    public interface Numbers {
        /** Returns the number in the first column of the first row, or 0 if there is no row. */
        long number(String sql, @Nullable Object... values) throws SQLException;
    }

    /** A change that has to be seen by all hubs. Guarded by the lock. */
    public static final class Barrier {
        private final Epoch kind;
        private final long number;
        private boolean isPassed;

        private Barrier(Epoch kind, long number) {
            this.kind = kind;
            this.number = number;
        }
    }

    private final boolean isShared;
    private final long hub;
    private volatile Numbers database = (sql, values) -> 0;
    private final Map<Epoch, List<Runnable>> copies = new EnumMap<>(Epoch.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition passed = lock.newCondition();
    private final long[] seen = new long[Epoch.values().length];
    private final long[] confirmed = new long[seen.length];
    private final Set<Barrier> waiting = new HashSet<>();
    private @Nullable CompletableFuture<Boolean> reading;
    private boolean hasFailed;
    private volatile int hubs = 1;
    /** Number of connections of the lease so far. A reading by an earlier connection is ignored. */
    private long connections;

    /** @param hub number of the hub that shares its database */
    public Epochs(long hub) {
        this(true, hub);
    }

    private Epochs(boolean isShared, long hub) {
        this.isShared = isShared;
        this.hub = hub;
        Arrays.fill(seen, NOTHING);
        for (Epoch kind : Epoch.values()) {
            copies.put(kind, new CopyOnWriteArrayList<>());
        }
    }

    // ---- Changes and copies

    /** Whether other hubs may change rows of the database. */
    public boolean isShared() {
        return isShared;
    }

    /** The hubs that work with the database, as of the latest renewal of the lease. */
    public int hubs() {
        return hubs;
    }

    /**
     * Has a copy of rows read again after each change by another hub. To be called before the copy is read for the first time.
     *
     * @param read replaces the copy by the rows of the database; may block, and fails if it cannot do so
     */
    public void keep(Epoch kind, Runnable read) {
        if (isShared) {
            copies(kind).add(read);
        }
    }

    private List<Runnable> copies(Epoch kind) {
        return copies.getOrDefault(kind, List.of());
    }

    /**
     * Counts a change in its transaction.
     *
     * @return its number, for {@link #barrier}; 0 if no other hub uses the database
     */
    public long bump(Numbers session, Epoch kind) throws SQLException {
        return isShared ? session.number(BUMP, kind.number()) : 0;
    }

    /** A change by this hub is in its copy, which need not be read again if no other hub has changed rows before. */
    public void applied(Epoch kind, long number) {
        lock.lock();
        try {
            if (seen[kind.number()] == number - 1) {
                seen[kind.number()] = number;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all hubs that work with the database have seen a committed change or have ended, for {@link #LONGEST_BARRIER} at most.
     *
     * @return false if that has passed, or the thread was interrupted
     */
    public boolean barrier(Epoch kind, long number) {
        if (!isShared || number <= 0) {
            return true;
        }
        var barrier = new Barrier(kind, number);
        lock.lock();
        try {
            if (confirmed[kind.number()] >= number) {
                return true;
            }
            waiting.add(barrier); // before the look: a later one of the lease counts, too
        } finally {
            lock.unlock();
        }
        long end = System.nanoTime() + LONGEST_BARRIER.toNanos();
        boolean isSeen = look(barrier);
        lock.lock();
        try {
            long left = end - System.nanoTime();
            while (!isSeen && !barrier.isPassed && left > 0) {
                left = passed.awaitNanos(left);
            }
            isSeen |= barrier.isPassed;
            if (isSeen) {
                confirmed[kind.number()] = Math.max(confirmed[kind.number()], number);
            } else {
                LOG.log(
                        Level.WARNING,
                        "a change was not seen by all hubs within " + LONGEST_BARRIER.toSeconds()
                                + " s; a hub that has not seen it answers nothing until it has");
            }
            return isSeen;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            waiting.remove(barrier);
            lock.unlock();
        }
    }

    /** Looks once, and hints at the change if a hub has not seen it. */
    private boolean look(Barrier barrier) {
        try {
            if (database.number(BEHIND, hub, barrier.kind.number() + 1, barrier.number) == 0) {
                return true;
            }
            hint(database, CHANGED);
        } catch (SQLException | RuntimeException failure) {
            LOG.log(Level.DEBUG, "other hubs learn of a change by the renewals of their leases", failure);
        }
        return false;
    }

    private void hint(Numbers session, String word) throws SQLException {
        session.number(HINT, word + hub);
    }

    // ---- Of the lease

    /** @param reader reads from the database */
    public void open(Numbers reader) {
        database = reader;
    }

    /** The seen numbers as an array of the database. */
    public String seen() {
        lock.lock();
        try {
            return LongStream.of(seen).mapToObj(Long::toString).collect(Collectors.joining(",", "{", "}"));
        } finally {
            lock.unlock();
        }
    }

    /** A new connection may lead to an earlier state of the database, whose numbers are given again: all copies have to be read. */
    public void reconnected() {
        lock.lock();
        try {
            Arrays.fill(seen, NOTHING);
            connections++;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a hint is one for this hub to look at the numbers. */
    public boolean isNews(String hint) {
        if (hint.startsWith(SEEN)) {
            return !hint.equals(SEEN + hub) && !waiting().isEmpty();
        }
        return !hint.equals(CHANGED + hub);
    }

    /** The barriers that wait, before a look at the numbers. */
    public Set<Barrier> waiting() {
        lock.lock();
        try {
            return Set.copyOf(waiting);
        } finally {
            lock.unlock();
        }
    }

    /** Sends a hint to other hubs: this hub has seen the latest numbers. */
    public void tellSeen(Numbers session) throws SQLException {
        hint(session, SEEN);
    }

    /**
     * Takes the answer of a look at the numbers, and has copies that are out of date read on a thread of their own.
     *
     * @param barriers those that were {@link #waiting} before the look
     * @param numbers pairs of a kind and its number, separated by commas; null if nothing has changed yet
     * @param others what the other hubs that work with the database have seen, separated by commas; null if there are none
     * @return true when this hub has seen these numbers; false if it could not read a copy, or reads an earlier state
     */
    public CompletableFuture<Boolean> looked(Set<Barrier> barriers, @Nullable String numbers, @Nullable String others) {
        long[] found = new long[seen.length];
        for (String pair : numbers == null ? new String[0] : numbers.split(",", -1)) {
            int space = pair.indexOf(' ');
            int kind = Integer.parseInt(pair.substring(0, space));
            if (kind < found.length) { // not one of a later release
                found[kind] = Long.parseLong(pair.substring(space + 1));
            }
        }
        lock.lock();
        try {
            for (Barrier barrier : barriers) {
                barrier.isPassed |= others == null || isSeen(others, barrier);
            }
            passed.signalAll();
            hubs = others == null ? 1 : 1 + others.split(",", -1).length;
            return read(found);
        } finally {
            lock.unlock();
        }
    }

    private static boolean isSeen(String others, Barrier barrier) {
        int place = barrier.kind.number();
        return Arrays.stream(others.split(",", -1))
                .map(hub -> hub.split(" ", -1))
                .allMatch(numbers -> place < numbers.length
                        && !numbers[place].isEmpty()
                        && Long.parseLong(numbers[place]) >= barrier.number);
    }

    private CompletableFuture<Boolean> read(long[] found) {
        boolean isBehind = false;
        for (Epoch kind : Epoch.values()) {
            if (found[kind.number()] > seen[kind.number()]) {
                if (copies(kind).isEmpty()) {
                    seen[kind.number()] = found[kind.number()];
                } else {
                    isBehind = true;
                }
            }
        }
        CompletableFuture<Boolean> before = reading;
        if (!isBehind) {
            return CompletableFuture.completedFuture(true);
        }
        if (before != null && !before.isDone()) {
            return before.thenApply(any -> false);
        }
        var next = new CompletableFuture<Boolean>();
        reading = next;
        long connection = connections;
        Thread.ofVirtual().name("store-epochs").start(() -> next.complete(readAll(found, connection)));
        return next;
    }

    private boolean readAll(long[] found, long connection) {
        boolean isWhole = true;
        for (Epoch kind : Epoch.values()) {
            if (found[kind.number()] > seen(kind)) {
                isWhole &= read(kind, found[kind.number()], connection);
            }
        }
        return isWhole;
    }

    private boolean read(Epoch kind, long number, long connection) {
        boolean isRead = true;
        try {
            copies(kind).forEach(Runnable::run);
        } catch (RuntimeException failure) {
            isRead = false;
            LOG.log(
                    hasFailed ? Level.DEBUG : ClosedException.level(failure),
                    "changes by another hub could not be read",
                    failure);
        }
        lock.lock();
        try {
            hasFailed = !isRead;
            isRead &= connection == connections;
            if (isRead) {
                seen[kind.number()] = Math.max(seen[kind.number()], number);
            }
        } finally {
            lock.unlock();
        }
        return isRead;
    }

    /** The newest change of a kind that this hub has in its copies; negative for none. */
    long seen(Epoch kind) {
        lock.lock();
        try {
            return seen[kind.number()];
        } finally {
            lock.unlock();
        }
    }
}
