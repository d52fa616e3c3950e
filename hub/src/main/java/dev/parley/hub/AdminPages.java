package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;

/** A part of what operators ask of a hub. */
@FunctionalInterface
interface AdminPages {
    /** @throws A2AException if the request is no good */
    WireAnswer answer(AdminRequest request, CallContext operator);
}
