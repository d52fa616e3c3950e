package dev.parley.protocol;

/**
 * Anything that answers A2A operations: the engine, a remote agent, a gateway.
 *
 * <p>Safe for any number of threads. Calls block; run them on virtual threads.
 */
public interface AgentEndpoint {
    /**
     * Answers one operation.
     *
     * @throws A2AException if it is refused or fails; what has been acknowledged before stands
     */
    <R> R call(Operation.Call<R> operation, CallContext context);

    /**
     * Opens a stream of events.
     *
     * @throws A2AException if it is refused; nothing is left open
     */
    EventStream watch(Operation.Watch operation, CallContext context);
}
