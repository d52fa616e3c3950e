package dev.parley.engine;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.engine.spi.TaskLog.TaskKey;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that are in memory: all that something happens to, and as many of the others as fit.
 *
 * <p>There is at most one {@link LiveTask} for a task at any time, because entries that are pinned or that wait for the
 * disk weigh nothing and so are never evicted, and because pinning, loading and weighing happen under the entry's lock.
 */
final class LiveTasks {
    private final Cache<String, LiveTask> cache;

    /** @param maxBytes room for tasks that nothing happens to */
    LiveTasks(long maxBytes) {
        this.cache = Caffeine.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((String id, LiveTask live) -> live.pins.get() > 0 || live.isWriting() ? 0 : live.weight())
                .executor(Runnable::run)
                .build();
    }

    /** Adds a task that is about to begin. Its pins are those that it has already. */
    void add(LiveTask live) {
        cache.put(live.key().taskId(), live);
    }

    /**
     * Returns the task, pinned once more: to be followed by {@link #unpin}.
     *
     * @param load makes it from the log if it is not in memory; null if there is no such task
     */
    @Nullable
    LiveTask pin(TaskKey key, Function<TaskKey, @Nullable LiveTask> load) {
        LiveTask live = cache.asMap().compute(key.taskId(), (id, present) -> {
            LiveTask found = present == null || present.isBroken() ? load.apply(key) : present;
            if (found != null && found.key().equals(key)) {
                found.pins.incrementAndGet();
            }
            return found;
        });
        return live != null && live.key().equals(key) ? live : null;
    }

    /** Returns the task if it is in memory and visible to the key's scope. */
    @Nullable
    LiveTask peek(TaskKey key) {
        LiveTask live = cache.getIfPresent(key.taskId());
        return live != null && live.key().equals(key) && !live.isBroken() ? live : null;
    }

    void unpin(LiveTask live) {
        if (live.pins.decrementAndGet() == 0) {
            settled(live);
        }
    }

    /** Weighs the task anew, as it may no longer be in use; drops it if the disk refused it. */
    void settled(LiveTask live) {
        if (live.isBroken()) {
            cache.asMap().remove(live.key().taskId(), live);
        } else if (!live.isWriting() && live.pins.get() == 0) {
            cache.asMap().computeIfPresent(live.key().taskId(), (id, present) -> present);
        }
    }

    /** Removes a task that does not come to be. */
    void remove(LiveTask live) {
        cache.asMap().remove(live.key().taskId(), live);
    }

    /** Drops the idle tasks that satisfy {@code gone}. */
    void dropIf(Predicate<LiveTask> gone) {
        cache.asMap().values().removeIf(live -> live.pins.get() == 0 && !live.isWriting() && gone.test(live));
    }
}
