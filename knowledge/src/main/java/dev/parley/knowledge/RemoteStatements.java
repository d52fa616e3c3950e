package dev.parley.knowledge;

import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.knowledge.spi.StatementStore;
import dev.parley.knowledge.spi.View;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Keeps statements in a server that speaks SPARQL 1.1, such as Apache Jena Fuseki.
 *
 * <p>A group has a graph {@code urn:parley:statements:GROUP} in which each statement is a resource that says what the
 * statement says and what is remarked on it. What a group holds is there as plain triples too, in {@code
 * urn:parley:graph:GROUP} and, for named graphs, {@code urn:parley:graph:GROUP:NAME}; they are for other readers, and never
 * read back.
 *
 * <p>A change is one SPARQL update, so it is as atomic as the server makes that. SPARQL has no transactions over several
 * requests: a question that takes several may see what is written between them, and only one process may write to a group.
 */
public final class RemoteStatements implements StatementStore {
    private static final Duration WRITE_PATIENCE = Duration.ofSeconds(60);

    private final URI query;
    private final URI update;
    private final HttpClient http;
    private final InstantSource clock;
    private final Map<String, ReentrantLock> writers = new ConcurrentHashMap<>();

    private RemoteStatements(URI query, URI update, HttpClient http, InstantSource clock) {
        this.query = query;
        this.update = update;
        this.http = http;
        this.clock = clock;
    }

    /**
     * Returns the store behind two addresses. Nothing is sent before it is used.
     *
     * @param query where the server takes queries
     * @param update where the server takes updates; may be the same
     * @param http sends the requests, with the credentials that it has; is not closed
     * @param clock says when statements are confirmed
     */
    public static RemoteStatements at(URI query, URI update, HttpClient http, InstantSource clock) {
        return new RemoteStatements(query, update, http, clock);
    }

    @Override
    public <T> T read(String group, Floors floors, Duration patience, Function<View, T> question) {
        return question.apply(new RemoteView(endpoint(patience), group, floors));
    }

    /** @throws KnowledgeStoreException if the server cannot be reached; if it ran out of time, the change may be done */
    @Override
    public <T> T write(String group, Function<Writing, T> change) {
        ReentrantLock writer = writers.computeIfAbsent(group, name -> new ReentrantLock());
        writer.lock();
        try {
            var writing = new RemoteWriting(endpoint(WRITE_PATIENCE), group, clock);
            T result = change.apply(writing);
            writing.send();
            return result;
        } finally {
            writer.unlock();
        }
    }

    private RemoteEndpoint endpoint(Duration patience) {
        return new RemoteEndpoint(query, update, http, patience);
    }

    /** Does nothing: what was written is on the server. */
    @Override
    public void close() {}
}
