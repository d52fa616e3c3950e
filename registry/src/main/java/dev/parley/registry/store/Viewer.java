package dev.parley.registry.store;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.RegistryError;
import java.util.function.Predicate;

/**
 * A caller as the owner and reader of entries.
 *
 * @param isStranger whether the caller has no credentials at a hub with authentication, and so belongs to no group
 * @param isOperator whether the caller sees and changes all entries, except for copies of those of peers
 * @param knows whether the caller may know an agent of the hub itself
 */
record Viewer(String group, String principal, boolean isStranger, boolean isOperator, Predicate<Entry> knows) {
    /** Scope of operators. */
    private static final String ADMIN = "admin";

    /** Characters of an id in errors. */
    private static final int LONGEST_SHOWN = 400;

    static Viewer of(CallContext caller, Predicate<Entry> knows) {
        return new Viewer(
                caller.scope().group(),
                caller.caller(),
                caller.isUnauthenticated(),
                caller.grants().contains(ADMIN),
                knows);
    }

    boolean owns(Entry entry) {
        Ownership owner = entry.ownership();
        return isOperator && !entry.isCopy()
                || !isStranger
                        && owner.group().equals(group)
                        && owner.principal().equals(principal);
    }

    boolean sees(Entry entry) {
        Ownership owner = entry.ownership();
        if (owner.principal().equals(Entry.HUB)) {
            return (isOperator || knows.test(entry)) && entry.state().status() != Entry.Status.DELETED;
        }
        return owns(entry)
                || entry.state().status() != Entry.Status.DELETED
                        && switch (owner.visibility()) {
                            case PUBLIC -> true;
                            case GROUP -> !isStranger && owner.group().equals(group);
                            case PRIVATE -> false;
                        };
    }

    /** Refuses the change of an entry of another owner. */
    void requireOwner(Entry entry) {
        if (!owns(entry)) {
            throw sees(entry)
                    ? A2AException.of(RegistryError.NOT_OWNER, "entry " + entry.id() + ": owned by another principal")
                    : notFound(entry.id());
        }
    }

    static A2AException notFound(String id) {
        String shown = id.length() <= LONGEST_SHOWN ? id : id.substring(0, LONGEST_SHOWN) + "…";
        return A2AException.of(RegistryError.ENTRY_NOT_FOUND, "entry \"" + shown + "\": unknown");
    }
}
