package dev.parley.engine.tasks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tasks in memory: all active ones, and as many inactive ones as fit. A task that ended with its first segment is removed from
 * memory once it is written, until it is read.
 *
 * <p>There is at most one {@link LiveTask} for a task at any time, because entries that are pinned or that wait for the
 * disk weigh nothing and so are never evicted, and because pinning, adding and weighing happen under the entry's lock. Tasks
 * are loaded under no lock: the log's writer weighs tasks, and must not wait for the disk of another.
 *
 * <p>Large tasks that are in use have a bound of their own: beyond it no further one is loaded.
 */
public final class LiveTasks {
    /** Reads tasks from the log. */
    public interface Loader {
        /** Returns a task as the log holds it; null if it holds none. */
        @Nullable
        LiveTask load(TaskKey key);

        /** True if the log holds the task. */
        boolean exists(TaskKey key);

        /** Brings a task up to date that another engine may write to. Returns false if the log does not hold it any more. */
        boolean refresh(LiveTask live);

        /** Has the log hint at further events of a task that another engine may write to. */
        void follow(TaskKey key);
    }

    /** Tasks of fewer bytes are loaded without a look at how many there are. */
    private static final int LARGE = 1 << 20;

    private final Loader loader;
    private final long mostInUse;
    private final Cache<String, LiveTask> cache;
    private final ConcurrentHashMap<TaskKey, CompletableFuture<Boolean>> loading = new ConcurrentHashMap<>();
    /** Held while a loaded task is put into the cache, and while a removal is counted; never while anything is read. */
    private final ReentrantLock admission = new ReentrantLock();
    /** Number of removals of tasks from the log. Written under the lock. */
    private final AtomicLong removals = new AtomicLong();

    /**
     * @param maxBytes room for tasks that nothing happens to
     * @param mostInUse bytes of tasks in use with which no further large one is loaded
     */
    public LiveTasks(long maxBytes, long mostInUse, Loader loader) {
        this.loader = loader;
        this.mostInUse = mostInUse;
        this.cache = Caffeine.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((String id, LiveTask live) -> isIdle(live) ? live.weight() : 0)
                .executor(Runnable::run)
                .build();
    }

    /** Adds a task that is about to begin. Its pins are those that it has already. */
    public void add(LiveTask live) {
        cache.put(live.key().taskId(), live);
    }

    /**
     * Returns the task, pinned; null if there is no such task.
     *
     * @throws A2AException UNAVAILABLE if it is large, and too many others are in use
     */
    @Nullable
    public Pin pin(TaskKey key) {
        Pin pin = present(key);
        if (pin != null && pin.task().isForeign()) {
            loader.follow(key);
        }
        return pin;
    }

    private @Nullable Pin present(TaskKey key) {
        while (true) {
            LiveTask present = cache.asMap().computeIfPresent(key.taskId(), (id, live) -> pinned(live, key));
            if (present != null && !present.isBroken()) {
                if (!present.key().equals(key)) {
                    return null;
                }
                Pin pin = new Pin(this, present).into(this::refreshed);
                if (pin == null || !pin.task().isBroken()) {
                    return pin;
                }
                pin.close(); // refused while it was compared
            } else if (present != null) {
                unpinBroken(present, key);
            }
            var mine = new CompletableFuture<Boolean>();
            CompletableFuture<Boolean> other = loading.putIfAbsent(key, mine);
            if (other == null) {
                return load(key, mine);
            }
            if (!loaded(other)) {
                return null;
            }
        }
    }

    /** Returns the pin if the task is there, otherwise null. */
    private @Nullable Pin refreshed(Pin pin) {
        if (refresh(pin.task())) {
            return pin;
        }
        pin.close();
        return null;
    }

    /** Brings a task up to date if another engine may write to it. Returns false if the log does not hold it any more; it is removed then. */
    public boolean refresh(LiveTask live) {
        if (!live.isForeign()) {
            return true;
        }
        boolean exists = loader.refresh(live);
        if (exists) {
            settled(live);
        } else {
            live.erased();
            remove(live);
        }
        return exists;
    }

    /** Tasks that other engines may write to and that are in use here. */
    public List<LiveTask> followed() {
        return cache.asMap().values().stream()
                .filter(live -> live.isForeign() && live.pins.get() > 0)
                .toList();
    }

    /** Pins a task that is new, or that its caller has pinned already. */
    public Pin pin(LiveTask live) {
        live.pins.incrementAndGet();
        return new Pin(this, live);
    }

    private static LiveTask pinned(LiveTask live, TaskKey key) {
        if (live.key().equals(key)) {
            live.pins.incrementAndGet();
        }
        return live;
    }

    private void unpinBroken(LiveTask broken, TaskKey key) {
        if (broken.key().equals(key)) {
            unpinned(broken);
        }
    }

    /** Waits until another thread has loaded the task; false if there was none. */
    private static boolean loaded(CompletableFuture<Boolean> other) {
        try {
            return other.join();
        } catch (CompletionException failure) {
            throw failure.getCause() instanceof RuntimeException same ? same : failure;
        }
    }

    private @Nullable Pin load(TaskKey key, CompletableFuture<Boolean> mine) {
        try {
            long before = removals.get();
            LiveTask loaded = loader.load(key);
            if (loaded != null && loaded.weight() > LARGE) {
                requireRoom(loaded);
            }
            LiveTask live = loaded == null ? null : publish(key, loaded, before);
            mine.complete(live != null);
            return live == null ? null : new Pin(this, live);
        } catch (RuntimeException | Error failure) {
            mine.completeExceptionally(failure);
            throw failure;
        } finally {
            loading.remove(key, mine);
        }
    }

    private void requireRoom(LiveTask large) {
        long inUse = 0;
        for (LiveTask live : cache.asMap().values()) {
            inUse += isIdle(live) ? 0 : live.weight();
        }
        if (inUse > 0 && inUse + large.weight() > mostInUse) {
            throw A2AException.unavailable("Too many large tasks are in use", Duration.ofSeconds(5));
        }
    }

    /**
     * Puts a task that was loaded into the cache, unless it is there by now; returns the one that is there, pinned. Null if the
     * task was removed meanwhile: it is never in the cache then, where others would read it.
     *
     * @param seen the removals that had happened before it was read
     */
    private @Nullable LiveTask publish(TaskKey key, LiveTask loaded, long seen) {
        long before = seen;
        while (true) {
            admission.lock();
            try {
                if (removals.get() == before) {
                    LiveTask live = cache.asMap()
                            .compute(
                                    key.taskId(),
                                    (id, present) ->
                                            pinned(present == null || present.isBroken() ? loaded : present, key));
                    return live != null && live.key().equals(key) ? live : null;
                }
                before = removals.get();
            } finally {
                admission.unlock();
            }
            if (!loader.exists(key)) {
                return null;
            }
        }
    }

    /** Returns the task if it is in memory and visible to the key's scope, as it is in the log. */
    @Nullable
    public LiveTask peek(TaskKey key) {
        LiveTask live = cache.getIfPresent(key.taskId());
        return live != null && live.key().equals(key) && !live.isBroken() && refresh(live) && !live.isBroken()
                ? live
                : null;
    }

    /** Counts one use less: for {@link Pin#close}. */
    void unpinned(LiveTask live) {
        if (live.pins.decrementAndGet() == 0) {
            settled(live);
        }
    }

    /**
     * Weighs the task anew, as it may no longer be in use; drops it if the disk refused it, or if its sender has got all of
     * it at once, because such a task is seldom asked for again.
     */
    public void settled(LiveTask live) {
        if (live.isBroken()) {
            remove(live);
        } else if (isIdle(live)) {
            cache.asMap()
                    .computeIfPresent(
                            live.key().taskId(),
                            (id, present) -> present == live && live.isWrittenOnce() && isIdle(live) ? null : present);
        }
    }

    private static boolean isIdle(LiveTask live) {
        return !live.isWriting() && live.pins.get() == 0;
    }

    /** Removes a task that does not come to be, or that a new object replaces. */
    public void remove(LiveTask live) {
        cache.asMap().remove(live.key().taskId(), live);
    }

    /** Wakes all threads that wait for a task, after a change of state outside of the tasks that they also check. */
    public void wakeAll() {
        cache.asMap().values().forEach(LiveTask::wake);
    }

    /** Removes the tasks that have been written and do not exist any more, as a look-up of ids tells. */
    public void retain(TaskLog.Existing existing) {
        Set<String> written = cache.asMap().values().stream()
                .filter(live -> live.durable() != null)
                .map(live -> live.key().taskId())
                .collect(Collectors.toSet());
        Set<String> left = written.isEmpty() ? written : existing.of(written);
        removed(live -> written.contains(live.key().taskId())
                && !left.contains(live.key().taskId()));
    }

    /** Ends the run of a task that is erased before its end: nothing that it emits can be written. */
    private static void cancel(LiveTask erased) {
        Task task = erased.durable();
        RunQueue.Run running = erased.runs().current();
        if (running != null && task != null && !task.state().isTerminal()) {
            running.cancel();
        }
    }

    /** Removes the tasks that satisfy {@code gone}, after the log has removed them. Later reads do not find them. */
    public void removed(Predicate<LiveTask> gone) {
        // A thread that adds a task either has done so before this, so that the loop finds it, or notices the removal.
        admission.lock();
        try {
            removals.incrementAndGet();
        } finally {
            admission.unlock();
        }
        for (LiveTask live : cache.asMap().values()) {
            if (gone.test(live)) {
                live.erased();
                cancel(live);
                remove(live);
            }
        }
    }
}
