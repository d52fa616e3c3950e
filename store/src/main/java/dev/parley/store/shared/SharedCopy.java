package dev.parley.store.shared;

import dev.parley.store.shared.Epochs.Numbers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A copy in memory of rows that all hubs of a database change: has its changes and its readings in the order of the database. Safe for
 * any thread.
 */
public final class SharedCopy {
    private final Epochs epochs;
    private final Epoch kind;
    private final ReentrantLock changing = new ReentrantLock();
    /** Numbers of the changes that were committed since the lock was taken. Guarded by it. */
    private final List<Long> changes = new ArrayList<>();
    /** The newest change of this hub. Guarded by the same lock. */
    private long newestOwn;

    private final ReentrantLock replacing = new ReentrantLock();
    private long begun;
    private long newest;

    public SharedCopy(Epochs epochs, Epoch kind) {
        this.epochs = epochs;
        this.kind = kind;
    }

    /** @param read reads the rows, between {@link #beginReading} and {@link #replace} */
    public void keep(Runnable read) {
        epochs.keep(kind, () -> {
            changing.lock(); // a change of this hub that is not in memory yet would be lost
            try {
                read.run();
            } finally {
                changing.unlock();
            }
        });
    }

    /**
     * Writes a change and applies it to the copy, in the order of commits. Returns when all hubs have it in their copies, or answer
     * nothing; one that finds nothing to change returns when all hubs have what it has found.
     */
    public <T> T change(Supplier<T> change) {
        T result;
        long latest;
        boolean isOuter = !changing.isHeldByCurrentThread();
        changing.lock();
        try {
            if (isOuter) {
                changes.clear();
            }
            result = change.get();
            if (isOuter && !changes.isEmpty()) {
                changes.forEach(number -> epochs.applied(kind, number));
                newestOwn = changes.getLast();
            }
            latest = newestOwn;
        } finally {
            changing.unlock();
        }
        // Not under the lock, which a reading for the barrier of another hub takes.
        if (isOuter) {
            epochs.barrier(kind, Math.max(latest, epochs.seen(kind)));
        }
        return result;
    }

    /** Counts a change in its transaction, and returns its number. */
    public long bump(Numbers session) throws SQLException {
        return epochs.bump(session, kind);
    }

    /** A change with this number is on disk. By the thread that makes it. */
    public void changed(long number) {
        if (number > 0) {
            changes.add(number);
        }
    }

    /** Returns the turn of a reading that begins. */
    public long beginReading() {
        replacing.lock();
        try {
            return ++begun;
        } finally {
            replacing.unlock();
        }
    }

    /** Replaces the copy, unless a reading that began later has done so. */
    public void replace(long turn, Runnable replacement) {
        replacing.lock();
        try {
            if (turn > newest) {
                newest = turn;
                replacement.run();
            }
        } finally {
            replacing.unlock();
        }
    }
}
