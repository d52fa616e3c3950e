package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.Outage;
import dev.parley.store.files.DataFiles;
import dev.parley.store.files.FileFaultException;
import dev.parley.store.spi.ClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves pages from the write-ahead log to the database, beside the writer, which would delay all callers, and empties the
 * log after erasures. What is written meanwhile is left over, and as long as anything is, the log grows; so once it is long and
 * little is left, the writer moves that between two transactions, and begins the log anew. Safe for any thread.
 */
public final class Checkpointer {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Default page size of SQLite, in bytes. */
    public static final int PAGE = 4_096;

    /** Free pages that one transaction overwrites; other writers wait for no more than that. */
    static final int WIPED_PAGES = 256;

    /** Pages that may be moved while the writer waits: about a millisecond. */
    private static final int FEW_PAGES = 256;

    /** Pages that may be left in the log by a reader while free pages are overwritten. */
    private static final int MANY_PAGES = 16_384;

    /** A log of so many pages is to be begun anew: 32 MiB, less than what its file keeps. */
    private static final int LONG_LOG_PAGES = 8_192;

    /** A pass leaves the pages that are written during it, so that each leaves fewer than the one before. */
    private static final int MOST_PASSES = 4;

    /** Time that the truncation of the log may keep writers waiting for readers. */
    static final int TRUNCATE_MS = 10;

    private final Database database;
    private final DataFiles files;
    private final Opening opening;
    private final Semaphore due = new Semaphore(0);
    private final AtomicLong erasures = new AtomicLong();
    private final ReentrantLock truncation = new ReentrantLock();
    private final Condition truncatedMore = truncation.newCondition();
    /** Number of erasures without traces in the log; written by the thread only, under the lock. */
    private volatile long truncated;

    /** Whether the log is to be truncated for its space. */
    private volatile boolean spaceNeeded;

    private volatile boolean open = true;
    private final Thread thread;

    Checkpointer(Database database, DataFiles files, Opening opening) {
        this.database = database;
        this.files = files;
        this.opening = opening;
        this.thread = Thread.ofPlatform().daemon().name("store-checkpointer").unstarted(this::checkpointAll);
    }

    /** Starts its thread, which reads and writes the database. */
    void start() {
        thread.start();
    }

    /** Has pages moved soon. */
    void wake() {
        due.release();
    }

    /** Has the log moved and truncated soon, as far as its pages have room in the database: the disk is full. */
    void freeSpace() {
        spaceNeeded = true;
        due.release();
    }

    /** Starts a checkpoint that removes erased data from the log. */
    void erased() {
        erasures.incrementAndGet();
        due.release();
    }

    /** Waits until the log holds no data that was erased before, as {@link Database#awaitErased} says. */
    boolean awaitErased(Duration patience) {
        long wanted = erasures.get();
        long deadline = System.nanoTime() + patience.toNanos();
        truncation.lock();
        try {
            while (truncated < wanted) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || !open) {
                    return false;
                }
                truncatedMore.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            truncation.unlock();
        }
    }

    /** Ends, once what was erased has left the log, if no reader keeps it there. To be called when the writer has ended. */
    void close() throws InterruptedException {
        open = false;
        due.release();
        thread.join();
    }

    /** Whether the files still hold erased data. Called by the thread only. */
    private boolean isErasing() {
        return truncated < erasures.get();
    }

    /**
     * Overwrites free pages, in small transactions, for releases before this one left in them what was removed. They are
     * taken by a table, which is then emptied.
     *
     * @return false if a reader keeps the write-ahead log from being moved, which would grow on and on
     */
    private boolean wipe(DatabaseSession session) throws SQLException {
        if (database.read(Checkpointer::isWiped)) {
            return true;
        }
        database.write(writing -> {
            writing.once("CREATE TABLE IF NOT EXISTS wiped (zeros BLOB)");
            return writing;
        });
        boolean more = true;
        for (int slice = 1; more; slice++) {
            more = database.write(WIPED_PAGES, writing -> {
                long free = writing.number("SELECT freelist_count FROM pragma_freelist_count");
                long taken = Math.min(free, WIPED_PAGES);
                writing.update("INSERT INTO wiped (zeros) VALUES (zeroblob(?))", taken * PAGE);
                return free > taken;
            });
            if (slice % 16 == 0 && !isEmptied(session) && move(session).left > MANY_PAGES) {
                return false;
            }
        }
        do {
            more = database.write(writing -> {
                writing.once("PRAGMA secure_delete=OFF"); // they are zeros
                try {
                    return writing.update("DELETE FROM wiped WHERE rowid = (SELECT min(rowid) FROM wiped)") > 0;
                } finally {
                    writing.once(SqliteSystem.SECURE_DELETE);
                }
            });
        } while (more);
        database.write(writing -> {
            writing.once("DROP TABLE wiped");
            return writing.update("INSERT INTO module_version (module, version) VALUES (?, 1)", SqliteSystem.WIPED);
        });
        return true;
    }

    /**
     * Extent of a pass.
     *
     * @param log pages in the write-ahead log
     * @param left those of them that are yet to be moved
     */
    private record Moved(int log, int left) {}

    private Moved move(DatabaseSession session) throws SQLException {
        return checkpoint(session, "PASSIVE", row -> new Moved(row.getInt(2), row.getInt(2) - row.getInt(3)));
    }

    private <T> T checkpoint(DatabaseSession session, String mode, DatabaseSession.RowReader<T> result)
            throws SQLException {
        return files.move(() -> {
            try (ResultSet row =
                    session.bind("PRAGMA wal_checkpoint(" + mode + ")").executeQuery()) {
                return result.read(row);
            }
        });
    }

    /** Moves pages until few are left, unless a reader needs more of them. */
    private Moved moveMost(DatabaseSession session) throws SQLException {
        Moved moved = move(session);
        for (int pass = 1; pass < MOST_PASSES && moved.left > FEW_PAGES; pass++) {
            moved = move(session);
        }
        return moved;
    }

    private static boolean isWiped(DatabaseSession session) throws SQLException {
        return session.number("SELECT count(*) FROM module_version WHERE module = ?", SqliteSystem.WIPED) > 0;
    }

    private void checkpointAll() {
        var session = new DatabaseSession(opening);
        int failures = 1;
        boolean failed = false;
        try {
            while (true) {
                if (isErasing()) {
                    if (due.tryAcquire(Outage.PAUSES.bound(failures).toNanos(), TimeUnit.NANOSECONDS)) {
                        failures = 1;
                    }
                } else {
                    due.acquire();
                    failures = 1;
                }
                due.drainPermits();
                if (!open) {
                    emptyAtTheEnd(session);
                    return;
                }
                try {
                    if (spaceNeeded) {
                        spaceNeeded = false;
                        isEmptied(session);
                    }
                    Moved moved = move(session);
                    if (moved.log > LONG_LOG_PAGES && moveMost(session).left <= FEW_PAGES) {
                        database.moveRest();
                    }
                    if (isErasing() && !truncate(session)) {
                        failures++;
                    }
                    failed = false;
                } catch (SQLException | RuntimeException failure) {
                    session.discard();
                    failures++;
                    if (!failed && !FileFaultException.isCauseOf(failure)) { // of which the writer tells
                        LOG.log(
                                ClosedException.level(failure),
                                "a checkpoint failed; the next one moves its pages too",
                                failure);
                    }
                    failed = true;
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            session.discard();
        }
    }

    /** Removes data that was erased just before the close from the write-ahead log. The writer has ended by then. */
    private void emptyAtTheEnd(DatabaseSession session) {
        try {
            if (isErasing() && !isEmptied(session)) {
                LOG.log(Level.WARNING, "the write-ahead log keeps erased data until the next start");
            }
        } catch (SQLException | RuntimeException failure) {
            LOG.log(Level.WARNING, "the write-ahead log could not be emptied", failure);
        }
    }

    /** Empties the write-ahead log, unless a reader needs it. */
    private boolean isEmptied(DatabaseSession session) throws SQLException {
        if (moveMost(session).left > FEW_PAGES) {
            return false;
        }
        // Writers wait meanwhile, so that it must move little and not wait for readers.
        session.once("PRAGMA busy_timeout=" + TRUNCATE_MS);
        return checkpoint(session, "TRUNCATE", row -> row.getInt(1) == 0);
    }

    /** Overwrites erased data in the files; returns whether none is left. */
    private boolean truncate(DatabaseSession session) throws SQLException {
        long before = erasures.get();
        if (!wipe(session) || !isEmptied(session)) {
            return false;
        }
        truncation.lock();
        try {
            truncated = before;
            truncatedMore.signalAll();
        } finally {
            truncation.unlock();
        }
        return true;
    }
}
