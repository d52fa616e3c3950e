package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import java.util.Set;

/** The record of a registry that all of its faces read and write. */
public final class Entries {
    /** The registry itself as a reader of all entries. */
    public static final CallContext ITSELF = new CallContext(
            new CallContext.Caller(Entry.HUB, Set.of("admin"), ""),
            new CallContext.Scope("", Entry.HUB),
            CallContext.anonymous().wire(),
            CallContext.anonymous().trace(),
            null);

    private Entries() {}
}
