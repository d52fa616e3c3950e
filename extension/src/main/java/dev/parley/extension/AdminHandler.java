package dev.parley.extension;

import dev.parley.protocol.CallContext;

/** Handler of an operation of the administration of a hub. */
@FunctionalInterface
public interface AdminHandler {
    /**
     * Answers a call of an operator, in JSON.
     *
     * @throws dev.parley.protocol.A2AException if it is refused
     */
    Object answer(AdminParameters parameters, CallContext operator);
}
