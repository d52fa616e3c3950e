package dev.parley.registry.vault;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.Operation;

/** A call of a route, as an operation of the agent of the registry. It has no row: only the face makes such calls. */
record VaultCall(VaultRoute route, VaultRequest request) implements Operation.ExtensionCall<WireAnswer.Whole> {
    @Override
    public String name() {
        return route.name();
    }

    @Override
    public boolean isRepeatable() {
        return route.method().equals("GET");
    }

    /** Without the request, which may have a password. */
    @Override
    public String toString() {
        return name();
    }
}
