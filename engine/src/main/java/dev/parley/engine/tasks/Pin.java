package dev.parley.engine.tasks;

import dev.parley.protocol.A2AException;
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

    /**
     * Returns a pin of the task as the log holds it, in place of an object that the log has refused. This one stays open.
     *
     * @throws A2AException TASK_NOT_FOUND if the log holds it no more
     */
    Pin renewed() {
        Pin renewed = tasks.pin(task.key());
        if (renewed == null) {
            throw A2AException.taskNotFound(task.key().taskId());
        }
        return renewed;
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
