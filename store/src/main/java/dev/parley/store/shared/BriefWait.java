package dev.parley.store.shared;

import dev.parley.store.spi.ClosedException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Writes for a reader of {@link Epochs}, which must not wait for long: the rows may be locked by a hub that does not go on, or the database
 * may refuse changes, and a hub that does not end its readers answers nothing. The writes run one after the other on a thread of their
 * own. Safe for any thread.
 */
public final class BriefWait implements Runnable {
    /** Longest time that a reader waits. A lease has time for those of all its readers. */
    static final Duration PATIENCE = Duration.ofMillis(1_500);

    private static final Logger LOG = System.getLogger("dev.parley.store");

    private final Runnable write;
    private CompletableFuture<Boolean> latest = CompletableFuture.completedFuture(true);
    private boolean isNext;

    /** @param write may block, and may fail, which is logged */
    public BriefWait(Runnable write) {
        this.write = write;
    }

    /** Begins a write and waits 1.5 s for it at most; a write that takes longer goes on. Does not fail. */
    @Override
    public void run() {
        try {
            boolean unused = next().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            LOG.log(Level.DEBUG, "a write for another hub goes on", late);
        } catch (ExecutionException failure) {
            LOG.log(ClosedException.level(failure), "a write for another hub failed", failure.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** The write that begins now, or when that under way has ended; one that has not begun yet is for all that wait. */
    private synchronized CompletableFuture<Boolean> next() {
        if (!isNext) {
            isNext = true;
            latest = latest.handleAsync(
                    (done, failure) -> {
                        begin();
                        write.run();
                        return true;
                    },
                    task -> Thread.ofVirtual().name("store-write").start(task));
        }
        return latest;
    }

    private synchronized void begin() {
        isNext = false;
    }
}
