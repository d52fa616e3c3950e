package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.CallContext.Scope;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Memories of conversations that a hub keeps for its agents, a text each. Safe for any thread. */
public interface Memories {
    /** A conversation of a caller with an agent; other callers and agents with the same contextId have memories of their own. */
    record Key(Scope owner, String agent, String contextId) {}

    /**
     * A memory and its text.
     *
     * @param written when it was written last
     */
    record Memory(Key key, Instant written, String text) {}

    /** The text of a memory; empty if there is none. */
    Optional<String> read(Key key);

    /** Number of the newest erasure that this process knows of; 0 for none. Costs nothing. */
    long newestErasure();

    /**
     * Replaces the text of a memory, and waits until it is on disk.
     *
     * @param begun {@link #newestErasure} when the request came that the text is about. Memories of a subject that was erased since, also by
     *     another hub of the database, are not written
     * @param isWanted asked in the transaction of the change: whether the task of the request goes on
     * @return false if it was not wanted, or the subject was erased, and it is not written
     * @throws dev.parley.protocol.A2AException QUOTA_EXCEEDED if it does not fit into the quota of the group; nothing has changed then
     */
    boolean write(Key key, String text, long begun, BooleanSupplier isWanted);

    /** Removes a memory. */
    void remove(Key key);

    /**
     * Removes memories that were not written since {@code before}, the oldest first.
     *
     * @return how many were removed, at most {@code limit}
     */
    int removeUnchanged(Instant before, int limit);

    /**
     * Returns memories of a principal, of a context, or of both, in the order of their keys.
     *
     * @param after the last key of the page before; null for the first page
     * @param limit most memories of the page, at least 1. It has fewer if they are large, and none only at the end
     */
    List<Memory> about(Subject subject, @Nullable Key after, int limit);

    /**
     * Removes the memories of a principal, of a context, or of both, so that their texts are nowhere in the files either, and no request
     * that came before writes one again, at whatever hub.
     *
     * @return how many were removed
     */
    int erase(Subject subject);
}
