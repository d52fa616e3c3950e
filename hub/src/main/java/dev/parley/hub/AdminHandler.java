package dev.parley.hub;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.OwnMethod;
import java.util.Map;
import java.util.stream.Collectors;

/** Handler of an operation of {@link AdminOperations}. */
@FunctionalInterface
interface AdminHandler {
    /**
     * Answers a call of an operator, in JSON.
     *
     * @throws dev.parley.protocol.A2AException if it is refused
     */
    Object answer(AdminParameters parameters, CallContext operator);

    /** Handlers by the names of their operations, as methods. */
    static Map<String, OwnMethod> methods(Map<String, AdminHandler> handlers) {
        return handlers.entrySet().stream()
                .collect(Collectors.toMap(
                        entry -> "admin/" + entry.getKey(),
                        entry -> (params, caller) -> entry.getValue().answer(new AdminParameters(params), caller)));
    }
}
