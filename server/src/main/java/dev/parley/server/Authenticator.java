package dev.parley.server;

import dev.parley.dialect.Admission;
import dev.parley.dialect.Arrival;

/**
 * Tells who calls an agent, in every dialect and over every binding. Asked before the body of a request is read, except
 * over gRPC, where the message names the agent. Safe for any thread.
 */
@FunctionalInterface
public interface Authenticator {
    /**
     * Lets a call in.
     *
     * @param agent by its name
     * @throws dev.parley.protocol.A2AException UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED, or METHOD_NOT_FOUND for an
     *     agent that this caller is not to know of
     */
    Admission admit(String agent, Arrival arrival);

    /**
     * Whether a caller sees an agent on the list of all.
     *
     * @param protectCards whether cards are shown only to those who may call
     */
    default boolean shows(String agent, Arrival arrival, boolean protectCards) {
        return true;
    }
}
