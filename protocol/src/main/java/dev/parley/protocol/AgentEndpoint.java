package dev.parley.protocol;

/**
 * Answers operations, those of A2A and those of extensions: the engine, a remote agent, a gateway.
 *
 * <p>Safe for any number of threads. Calls block; run them on virtual threads.
 */
public interface AgentEndpoint {
    /**
     * Answers one operation.
     *
     * @throws A2AException if it is refused or fails; effects that were confirmed before stay
     */
    <R> R call(Operation.Call<R> operation, CallContext context);

    /**
     * Opens a stream: of the events of a task, in order and without gaps, or of what an operation of an extension streams.
     *
     * @throws A2AException if it is refused; nothing is left open
     */
    <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context);
}
