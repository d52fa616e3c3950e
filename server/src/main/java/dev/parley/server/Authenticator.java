package dev.parley.server;

import dev.parley.protocol.CallContext;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells who calls an agent, in every dialect and over every binding. Asked before the body of a request is read, except
 * over gRPC, where the message names the agent. Safe for any thread.
 */
@FunctionalInterface
public interface Authenticator {
    /**
     * Returns the caller.
     *
     * @param agent by its name
     * @param headers a header of the request, or metadata of the call, by its name in any case
     * @throws dev.parley.protocol.A2AException UNAUTHENTICATED or PERMISSION_DENIED
     */
    CallContext caller(String agent, Function<String, @Nullable String> headers);
}
