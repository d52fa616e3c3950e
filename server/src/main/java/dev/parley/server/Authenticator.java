package dev.parley.server;

import dev.parley.dialect.wire.Admission;
import dev.parley.dialect.wire.Arrival;
import java.util.function.Predicate;

/**
 * Tells who calls an agent, in every dialect and over every binding. Asked before the body of a request is read, except
 * over gRPC, where the message names the agent. Safe for any thread.
 */
@FunctionalInterface
public interface Authenticator {
    /** Name for which callers of an unknown agent are authenticated before they get 404. */
    String NO_AGENT = "";

    /**
     * Lets a call in.
     *
     * @param agent by its name, or {@value #NO_AGENT}
     * @throws dev.parley.protocol.A2AException UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED, or METHOD_NOT_FOUND for an
     *     agent that this caller is not to know of
     */
    Admission admit(String agent, Arrival arrival);

    /**
     * Returns whether a call has no credentials at all, and each agent needs some. Such a call is refused whatever its body
     * is, so the server waits for it only briefly.
     */
    default boolean lacksCredentials(Arrival arrival) {
        return false;
    }

    /**
     * Returns the filter, by name, of the agents that a caller sees in the list of all.
     *
     * @param protectCards whether cards are shown only to callers of the agent
     */
    default Predicate<String> shown(Arrival arrival, boolean protectCards) {
        return agent -> true;
    }
}
