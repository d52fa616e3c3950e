package dev.parley.protocol;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Anything that answers the operations of the knowledge graph extension: a graph on this machine, or an agent elsewhere.
 *
 * <p>Which statements there are for a caller is decided by the group of its {@linkplain CallContext#scope() scope}.
 *
 * <p>Safe for any number of threads. Calls block; run them on virtual threads.
 */
public interface KnowledgeEndpoint {
    /**
     * What the URI that stands for the extension in cards, headers and messages ends with. It begins with the address of
     * the server, which serves the specification there.
     */
    String EXTENSION_PATH = "/extensions/knowledge-graph/v1";

    /** The query languages that it understands, the preferred one first. */
    List<String> queryLanguages();

    /**
     * Answers a question.
     *
     * @throws A2AException KNOWLEDGE_QUERY if the query is not one or is too much; ALIGNMENT_VIOLATION if it may not be
     *     asked
     */
    KnowledgeOperation.QueryResult query(KnowledgeOperation.Query query, CallContext context);

    /**
     * Changes statements. When it returns, the change is on disk.
     *
     * @throws A2AException KNOWLEDGE_UPDATE if it conflicts with what is there; ALIGNMENT_VIOLATION if a rule forbids it;
     *     nothing has changed
     */
    KnowledgeOperation.UpdateResult update(KnowledgeOperation.Update update, CallContext context);

    /**
     * Opens a stream of changes.
     *
     * @throws A2AException KNOWLEDGE_SUBSCRIPTION if the query is none; ALIGNMENT_VIOLATION if it may not be watched;
     *     nothing is left open
     */
    Changes subscribe(KnowledgeOperation.Subscribe subscription, CallContext context);

    /**
     * Changes as one reader sees them, in the order of their commits. The reader pulls. For one thread at a time, except
     * {@link #close}, which any thread may call and which wakes a waiting {@link #next}.
     */
    interface Changes extends Feed<KnowledgeOperation.Change> {
        /**
         * The id of the change behind which this stream began, to be given as {@code metadata.afterChangeId} to go on before
         * anything has changed; null if that is not known.
         */
        default @Nullable String position() {
            return null;
        }

        /**
         * Returns what has changed since the last call, waiting for it if need be.
         *
         * @return at least one change; an empty list if nothing changed within {@code patience}; null once the stream has
         *     been closed
         * @throws A2AException if the stream had to end, for instance because the reader may no longer see it
         * @throws InterruptedException if the waiting thread was interrupted; the stream can still be read
         */
        @Override
        @Nullable
        List<KnowledgeOperation.Change> next(Duration patience) throws InterruptedException;

        /** Ends the stream for this reader. Idempotent. */
        @Override
        void close();
    }
}
