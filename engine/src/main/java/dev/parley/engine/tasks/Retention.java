package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.SteadyClock;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.Task;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Removes tasks that have ended, and memories that were not written, for a time. Runs on one thread. */
public final class Retention implements Runnable {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final int BATCH = 500;

    private final TaskLog log;
    private final Tasks tasks;
    private final @Nullable Memories memories;
    private final SteadyClock clock;
    private final Duration time;
    private final BooleanSupplier isOpen;

    /** @param isOpen asked between batches */
    public Retention(
            TaskLog log,
            Tasks tasks,
            @Nullable Memories memories,
            SteadyClock clock,
            Duration time,
            BooleanSupplier isOpen) {
        this.log = log;
        this.tasks = tasks;
        this.memories = memories;
        this.clock = clock;
        this.time = time;
        this.isOpen = isOpen;
    }

    @Override
    public void run() {
        try {
            Instant before = clock.instant().truncatedTo(ChronoUnit.MILLIS).minus(time);
            int removed;
            int sum = 0;
            do {
                removed = removeEnded(before);
                sum += removed;
            } while (removed == BATCH && isOpen.getAsBoolean());
            if (sum > 0) {
                LOG.log(Level.INFO, "removed {0} tasks that ended before {1}", sum, before);
            }
            while (memories != null && isOpen.getAsBoolean() && memories.removeUnchanged(before, BATCH) == BATCH) {}
        } catch (RuntimeException failure) {
            LOG.log(Level.ERROR, "could not remove tasks that have ended", failure);
        }
    }

    /** Removes a batch of tasks that ended before {@code before}, from the log and from memory. */
    private int removeEnded(Instant before) {
        int removed = BATCH; // also on failure: some tasks may be removed, and the others are read again on demand
        try {
            removed = log.removeEnded(before, BATCH);
            return removed;
        } finally {
            if (removed > 0 || log.once() == Once.CLAIM) { // which another engine may have removed
                tasks.live().removed(live -> {
                    Task task = live.durable();
                    return task != null
                            && task.state().isTerminal()
                            && requireNonNull(task.status().timestamp()).isBefore(before);
                });
            }
        }
    }
}
