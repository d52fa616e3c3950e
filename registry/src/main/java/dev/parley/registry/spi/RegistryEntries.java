package dev.parley.registry.spi;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import java.util.Optional;

/**
 * The entries of a registry, as its extensions read and change them. A caller sees its own entries, deleted ones included, those of its
 * group that are visible to the group, and public ones. A caller with the scope {@code admin} is an owner of all entries, but for agents of
 * the hub itself and copies from peers. Other entries do not exist for a caller. Safe for any thread.
 */
public interface RegistryEntries {
    /** The entry with a URN or readable id that the caller may see. */
    Optional<Entry> find(String id, CallContext viewer);

    /**
     * The bytes of the newest version of the document of an entry, as the caller may see it.
     *
     * @throws dev.parley.protocol.A2AException if the caller sees no such entry
     */
    byte[] document(String id, CallContext viewer);

    /**
     * Publishes a document: a new entry, or a new version of one that the caller owns. The checks of the registry and the quota of the
     * caller's group apply.
     *
     * @throws dev.parley.protocol.A2AException if the document is refused, or the caller is not the owner
     */
    Entry publish(Publication publication, CallContext publisher);

    /**
     * Deletes an entry of the caller, or makes one active again that is deleted and not erased yet. An entry that has this status stays as
     * it is, and so does a revoked one.
     *
     * @return the entry with its status
     * @throws dev.parley.protocol.A2AException if the caller sees no such entry, or is not the owner
     */
    Entry setActive(String id, boolean isActive, CallContext owner);

    /** Adds a listener to all changes, those of the extension included. To be called before the extension is open. */
    void listen(EntryListener listener);
}
