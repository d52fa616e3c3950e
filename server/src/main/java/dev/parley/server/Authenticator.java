package dev.parley.server;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.CallContext;
import java.util.function.Predicate;

/**
 * Identifies the caller of an agent, in every dialect and over every binding. Called before the body of a request is read, except
 * over gRPC, where the message names the agent. Safe for any thread.
 */
@FunctionalInterface
public interface Authenticator {
    /** Name for which callers of an unknown agent are authenticated before they get 404. */
    String NO_AGENT = "";

    /**
     * Authenticates and admits a call.
     *
     * @param agent name of the agent, or {@value #NO_AGENT}
     * @throws dev.parley.protocol.A2AException UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED, or METHOD_NOT_FOUND for an
     *     agent that is hidden from this caller
     */
    AuthenticationResult admit(String agent, RequestHead arrival);

    /**
     * Admits a call without regard to its credentials.
     *
     * @throws dev.parley.protocol.A2AException as {@link #admit}; UNAUTHENTICATED if the agent requires credentials
     */
    default AuthenticationResult admitUnauthenticated(String agent, RequestHead arrival) {
        return AuthenticationResult.of(CallContext.unauthenticated(arrival.address()));
    }

    /**
     * Returns true if a call has no credentials, and each agent requires some. Such a call is refused with any body, so the
     * server waits for the body only briefly.
     */
    default boolean lacksCredentials(RequestHead arrival) {
        return false;
    }

    /**
     * Returns the filter, by name, of the agents that a caller sees in the list of all.
     *
     * @param protectCards whether cards are shown only to callers of the agent
     */
    default Predicate<String> shown(RequestHead arrival, boolean protectCards) {
        return agent -> true;
    }

    /** Returns true if callers without credentials see the unprotected card of an agent, at every address. */
    default boolean isShownToAll(String agent) {
        return true;
    }
}
