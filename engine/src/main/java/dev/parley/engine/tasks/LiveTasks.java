package dev.parley.engine.tasks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.engine.scheduling.Guarded;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
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

        /** Returns the number of the newest event of a task in the log; 0 if it holds none. */
        long newest(TaskKey key);

        /**
         * Brings a task up to date that another engine may write to, or marks it as broken if the log has another history of it. Returns false
         * if the log does not hold it any more.
         */
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
    /** Number of removals of tasks, and of times when the log may have lost events. Written under the lock. */
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
            erase(live);
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
     * task was removed meanwhile: it is never in the cache then, where others would read it. Loads it again if the log has lost
     * events of it meanwhile.
     *
     * @param seen the removals that had happened before it was read
     */
    private @Nullable LiveTask publish(TaskKey key, LiveTask read, long seen) {
        long before = seen;
        LiveTask newest = read;
        while (true) {
            LiveTask loaded = newest;
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
            long events = loader.newest(key);
            newest = differs(loaded, loaded.written(), events) && events > 0 ? loader.load(key) : loaded;
            if (events == 0 || newest == null) {
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

    /**
     * Compares the tasks that have been written with the log. Removes those that do not exist any more, and copies whose newest events the log
     * has lost: they are loaded again.
     */
    public void retain(TaskLog.Existing existing) {
        noteRemoval(); // a thread that has read a task before looks again before it adds the task
        Map<String, Long> seen = cache.asMap().values().stream()
                .filter(live -> live.durable() != null)
                .collect(Collectors.toMap(live -> live.key().taskId(), LiveTask::written));
        Map<String, Long> newest = seen.isEmpty() ? seen : existing.of(seen.keySet());
        removed(live -> seen.containsKey(live.key().taskId())
                && !newest.containsKey(live.key().taskId()));
        newest.forEach((id, number) -> compare(id, seen.getOrDefault(id, number), number));
    }

    /**
     * Removes the tasks that have been written and do not exist any more.
     *
     * @param search returns those of some tasks that do not exist, given with the numbers of their newest events
     */
    void forget(Function<Map<TaskKey, Long>, Set<TaskKey>> search) {
        noteRemoval();
        Set<TaskKey> gone = search.apply(cache.asMap().values().stream()
                .filter(live -> live.durable() != null)
                .collect(Collectors.toMap(LiveTask::key, LiveTask::written)));
        removed(live -> gone.contains(live.key()));
    }

    private void compare(String id, long seen, long newest) {
        LiveTask live = cache.getIfPresent(id);
        if (live != null && differs(live, seen, newest)) {
            drop(live);
        } else if (live != null && seen < newest) {
            // It is to be read anyway, and may have had events that the log has lost before it got others.
            cache.asMap().computeIfPresent(id, (key, present) -> isIdle(present) ? null : present);
        }
    }

    /** Removes a copy with another history than the log has. Its readers are refused, and later ones load the task. */
    public void drop(LiveTask live) {
        remove(live, A2AException.unavailable("The database has lost events of the task", Duration.ofSeconds(1)));
    }

    private void erase(LiveTask live) {
        remove(live, A2AException.taskNotFound(live.key().taskId()));
    }

    private void remove(LiveTask live, A2AException reason) {
        live.removed(reason);
        cancel(live);
        remove(live);
    }

    /**
     * Whether a copy has another history than the log, which has lost events then: the copy has more events, or has ended before others.
     *
     * @param seen number of the newest event of the copy before the look at the log
     * @param newest number of the newest event in the log
     */
    private static boolean differs(LiveTask live, long seen, long newest) {
        LoggedEvent copy = live.snapshot(UnaryOperator.identity());
        return newest < seen
                || newest > copy.sequence()
                        && copy.event() instanceof Task task
                        && task.state().isTerminal();
    }

    /** Ends the run of a task that is removed before its end: nothing that it emits can be written. */
    private static void cancel(LiveTask removed) {
        Task task = removed.durable();
        RunQueue.Run running = removed.runs().current();
        if (running != null && task != null && !task.state().isTerminal()) {
            running.cancel();
        }
    }

    /** Removes the tasks that satisfy {@code gone}, after the log has removed them. Later reads do not find them. */
    public void removed(Predicate<LiveTask> gone) {
        // A thread that adds a task either has done so before this, so that the loop finds it, or notices the removal.
        noteRemoval();
        for (LiveTask live : cache.asMap().values()) {
            if (gone.test(live)) {
                erase(live);
            }
        }
    }

    private void noteRemoval() {
        Guarded.change(admission, removals::incrementAndGet);
    }
}
