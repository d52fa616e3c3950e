package dev.parley.registry.spi;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The entries of a registry, as its extensions read and change them. A caller sees its own entries, deleted ones included, those of its
 * group that are visible to the group, and public ones. A caller with the scope {@code admin} is an owner of all entries, those of the
 * hub's own agents included, but for copies from peers. Other entries do not exist for a caller. Safe for any thread.
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

    /** {@link #publish(Publication, CallContext)} under a requirement. */
    Entry publish(Publication publication, Requirement requirement, CallContext publisher);

    /** Requirement that is checked in the transaction of a publication. No other entry is changed by any hub until that ends. */
    @FunctionalInterface
    interface Requirement {
        Requirement NONE = session -> {};

        /**
         * Called on the writer's thread, which must not wait.
         *
         * @throws dev.parley.protocol.A2AException if the requirement is not met; nothing is written then
         */
        void check(DatabaseSession session) throws SQLException;
    }

    /**
     * Deletes an entry of the caller, or makes one active again that is deleted and not erased yet. No other status changes: a deprecated
     * or expired entry does not become active by this, and a revoked one is not deleted.
     *
     * @return the entry with its status
     * @throws dev.parley.protocol.A2AException if the caller sees no such entry, or is not the owner
     */
    Entry setActive(String id, boolean isActive, CallContext owner);

    /**
     * Keeps a table in step with the entries. To be called while the extension is opened. Before the registry answers, its listener gets
     * the entries that the table does not have as they are: all of them for a new table, later those that a hub without the extension has
     * changed or erased. From then on it is called in the transactions of all changes, those of the extension included.
     *
     * @param listener may get an entry again that has not changed
     */
    void derive(DerivedTable table, EntryListener listener);

    /**
     * Condition for queries of a derived table under its own name. It holds for rows that were derived from the newest change of an entry
     * that the viewer sees, as the record of the entries says, whatever the row says.
     */
    Conditions seen(DerivedTable table, CallContext viewer);
}
