package dev.parley.store.shared;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.shared.Epochs.Numbers;
import dev.parley.store.spi.OutageException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Locks of keys that several hubs may add or change at the same time. A transaction takes the lock of a key before it writes the row of the
 * key, and writes nothing if another hub has it. So no writer waits for a row of a hub that pauses in its transaction.
 *
 * <p>A hub that has its database alone takes no locks, and runs no statement for them. Safe for any thread.
 */
public final class KeyLocks {
    private static final int LOCK = 727543;
    private static final String ONE = "pg_try_advisory_xact_lock(" + LOCK + ", hashtext(current_schema() || '/' || ?))";

    /** Pauses before an attempt is repeated. */
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(10), Duration.ofSeconds(1));

    /** A hub that pauses has been ended by then. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final boolean isShared;

    /** @param epochs those of the database, which tell whether other hubs may write */
    public KeyLocks(Epochs epochs) {
        this.isShared = epochs.isShared();
    }

    /** Whether other hubs may add or change keys. */
    public boolean isShared() {
        return isShared;
    }

    /**
     * Takes the locks of keys until the end of the transaction.
     *
     * @param keys at least one; each begins with the name of its table
     * @return false if another hub has one: nothing may be written
     */
    public boolean take(Numbers session, String... keys) throws SQLException {
        return !isShared
                || session.number(
                                Arrays.stream(keys)
                                        .map(key -> ONE)
                                        .collect(Collectors.joining(" AND ", "SELECT CAST(", " AS INTEGER)")),
                                (Object[]) keys)
                        > 0;
    }

    /**
     * Makes attempts of a change until one finds its keys free, with pauses of 10 ms to a second. Blocks for 10 s at most.
     *
     * @param attempt returns empty if it has written nothing because another hub has a key
     * @throws OutageException if no attempt has succeeded in time, or the thread was interrupted
     */
    public <T> T patiently(Supplier<Optional<T>> attempt) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Optional<T> done = attempt.get();
        for (int failures = 1; done.isEmpty(); failures++) {
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new OutageException("another hub is writing the same, and has not ended");
            }
            LockSupport.parkNanos(PAUSES.after(failures, null).toNanos());
            done = attempt.get();
        }
        return done.get();
    }
}
