package dev.parley.store.database;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Calls the callbacks of written works, in the order of their transactions. Called by the writer's thread, which waits while
 * too many groups are queued.
 */
final class CommitCallbacks {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Limit of written groups whose callbacks are queued. */
    private static final int MAX_UNTOLD_GROUPS = 256;

    /**
     * Works that have ended.
     *
     * @param failure null if they are on disk
     */
    private record Ended(List<Work> works, @Nullable Exception failure) {}

    private final BlockingQueue<Ended> ended = new ArrayBlockingQueue<>(MAX_UNTOLD_GROUPS);

    /** Number of groups that the thread has not finished, for the order of callbacks. */
    private final AtomicInteger untold = new AtomicInteger();

    /**
     * A virtual one: it wakes other virtual threads on their own scheduler, without a system call for each, and leaves the
     * writer to the next group.
     */
    private final Thread thread = Thread.ofVirtual().name("store-teller").start(this::tellAll);

    /** @param failure null if the works are on disk */
    void tell(Collection<Work> works, @Nullable Exception failure) {
        var group = new Ended(List.copyOf(works), failure);
        if (works.size() == 1 && untold.get() == 0) {
            tellEach(group); // another thread gains nothing, and a single caller gets its result sooner
        } else if (!works.isEmpty()) {
            put(group);
        }
    }

    /** Ends the thread after all callbacks. */
    void end() {
        put(new Ended(List.of(), null));
    }

    /** Waits for the end. */
    void join() throws InterruptedException {
        thread.join();
    }

    private void put(Ended group) {
        untold.incrementAndGet();
        boolean interrupted = false;
        while (true) {
            try {
                ended.put(group);
                break;
            } catch (InterruptedException ignored) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void tellAll() {
        while (true) {
            try {
                Ended group = ended.take();
                if (group.works.isEmpty()) {
                    return;
                }
                tellEach(group);
                untold.decrementAndGet();
            } catch (InterruptedException ignored) {
                // only end() ends this thread
            }
        }
    }

    private static void tellEach(Ended group) {
        for (Work work : group.works) {
            tell(work, group.failure);
        }
    }

    /** Calls the callback of one work; logs its exception. */
    static void tell(Work work, @Nullable Exception failure) {
        try {
            if (failure == null) {
                work.committed();
            } else {
                work.failed(failure);
            }
        } catch (RuntimeException | Error fault) {
            LOG.log(Level.ERROR, "the callback of a work failed", fault);
        }
    }
}
