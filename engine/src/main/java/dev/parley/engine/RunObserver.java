package dev.parley.engine;

/**
 * Stands around the runs of agents, to measure and to trace them. Called on the thread of each run.
 *
 * <p>When the work returns, the task is as the run has left it; what a handler throws has become its failure.
 */
@FunctionalInterface
public interface RunObserver {
    /** Calls {@code work}, once. */
    void observe(String agent, Request request, Runnable work);
}
