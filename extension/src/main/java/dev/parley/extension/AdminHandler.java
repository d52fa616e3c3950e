package dev.parley.extension;

import dev.parley.engine.Handlers;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.MethodCall;
import java.util.Map;

/** Handler of an operation of the administration of a hub. */
@FunctionalInterface
public interface AdminHandler {
    /**
     * Answers a call of an operator, in JSON.
     *
     * @throws dev.parley.protocol.A2AException if it is refused
     */
    Object answer(AdminParameters parameters, CallContext operator);

    /** Handlers by the names of their operations, without the prefix of the administration. */
    static Handlers all(Map<String, AdminHandler> handlers) {
        Handlers all = Handlers.NONE;
        for (Map.Entry<String, AdminHandler> one : handlers.entrySet()) {
            all = all.call(
                    AdminRow.of(one.getKey(), "GET /" + one.getKey(), "", Map.of()),
                    (MethodCall call, CallContext operator) ->
                            one.getValue().answer(new AdminParameters(call.params()), operator));
        }
        return all;
    }
}
