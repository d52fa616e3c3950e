package dev.parley.engine;

/**
 * Observer of the runs of agents, for metrics and traces. Called on the thread of each run.
 *
 * <p>When the work returns, the task is in its state after the run; an exception of a handler has become its failure.
 */
@FunctionalInterface
public interface RunObserver {
    /** Calls {@code work}, once. */
    void observe(String agent, Request request, Runnable work);

    /**
     * Reports events that an agent emitted after the end of its task, and that were dropped. Called at most twice for a run: when
     * it has ended, with all events so far, and at the first event after that.
     */
    default void dropped(String agent, Request request, long events) {}
}
