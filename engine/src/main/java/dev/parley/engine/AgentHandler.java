package dev.parley.engine;

/**
 * The work of an agent.
 *
 * <p>Called on a virtual thread of its own for every message: the first of a task, and each one that continues it. Block
 * as you like. Cancellation and the time limit interrupt the thread.
 *
 * <p>The call should end its task through {@link Reply}. One that returns without doing so completes the task if it has
 * produced an artifact, leaves it waiting if it has asked its caller for something, and otherwise fails it. One that
 * throws fails it; the caller receives a reference, the log has the cause.
 */
@FunctionalInterface
public interface AgentHandler {
    void handle(Request request, Reply reply) throws Exception;
}
