package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handler of an operation of the registry. */
@FunctionalInterface
public interface Handler {
    /**
     * Answers a call in JSON.
     *
     * @param given parameters, which the row has checked
     * @throws dev.parley.protocol.A2AException if it is refused
     */
    Object answer(Map<String, @Nullable Object> given, CallContext caller);
}
