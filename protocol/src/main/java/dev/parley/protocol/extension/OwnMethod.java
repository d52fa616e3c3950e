package dev.parley.protocol.extension;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON-RPC method that an agent has besides those of the protocol. Called on a virtual thread for each request, and may
 * block.
 */
@FunctionalInterface
public interface OwnMethod {
    /**
     * Answers a call.
     *
     * @param params as JSON is in Java: maps, lists, texts, numbers, truth values and null
     * @return the result, in the same form
     * @throws A2AException for the caller; any other exception is an internal error
     */
    Object call(Map<String, @Nullable Object> params, CallContext caller) throws Exception;
}
