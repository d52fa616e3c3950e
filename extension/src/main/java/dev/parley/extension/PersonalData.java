package dev.parley.extension;

import dev.parley.protocol.CallContext;
import java.util.Collection;
import java.util.Map;

/** Personal data that an extension holds. */
public interface PersonalData {
    /**
     * Removes references to tasks or contexts that are erased.
     *
     * @param operator in the group of the tasks
     */
    void unlink(Collection<String> ids, CallContext operator);

    /**
     * Erases the data of a principal.
     *
     * @param withStatements whether statements are removed that only the principal made
     * @param operator in the group of the principal
     * @return numbers of the answer, by the names of its members
     */
    Map<String, Object> erase(String principal, boolean withStatements, CallContext operator);

    /**
     * Called at the end of each erasure, after that of the audit: the extension drops data that it has read from the audit.
     *
     * @param operator in the group of the erasure
     */
    default void erased(CallContext operator) {}
}
