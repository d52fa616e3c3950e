package dev.parley.registry.spi;

import dev.parley.registry.Entry;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;

/** Follows the changes of entries within the transactions that make them, for instance to keep an index. */
public interface EntryListener {
    /**
     * Called in the transaction of a change.
     *
     * @param number key of the entry's row, which never changes
     * @param now the entry as it is from now on; deleted, expired and revoked ones have such a status
     */
    void changed(DatabaseSession session, long number, Entry now) throws SQLException;

    /** Called in the transaction that writes or removes a review of an entry; not for reviews that other hubs have taken. */
    default void reviewed(DatabaseSession session, long number, Entry now) throws SQLException {}

    /** Called in the transaction that erases an entry for good. */
    void erased(DatabaseSession session, long number) throws SQLException;
}
