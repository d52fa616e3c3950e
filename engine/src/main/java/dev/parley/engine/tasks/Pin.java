package dev.parley.engine.tasks;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** Use of a task, which keeps the task in memory until the pin is closed. Safe for any thread. */
public final class Pin implements AutoCloseable {
    private final LiveTasks tasks;
    private final LiveTask task;
    private final AtomicBoolean open = new AtomicBoolean(true);

    /** For {@link LiveTasks}, which counts it. */
    Pin(LiveTasks tasks, LiveTask task) {
        this.tasks = tasks;
        this.task = task;
    }

    public LiveTask task() {
        return task;
    }

    /** Passes this pin to {@code user}; its result closes the pin. Closes it if {@code user} throws. */
    public <R> R into(Function<Pin, R> user) {
        try {
            return user.apply(this);
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    /** Ends the use. Idempotent. */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            tasks.unpinned(task);
        }
    }
}
