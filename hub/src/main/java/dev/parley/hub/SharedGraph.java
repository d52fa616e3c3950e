package dev.parley.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.Graph;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph of a hub, opened at its first use: many hubs have no agent with one. Safe for
 * any thread.
 */
final class SharedGraph implements AutoCloseable {
    private final @Nullable Database database;
    private final @Nullable AuditTrail audit;
    private @Nullable Path scratch;
    private @Nullable Graph graph;
    private boolean closed;

    /**
     * @param graph if there is one already
     * @param database where it is to be else; null for a directory that is removed with it
     * @param audit of that database
     */
    SharedGraph(@Nullable Graph graph, @Nullable Database database, @Nullable AuditTrail audit) {
        this.graph = graph;
        this.database = database;
        this.audit = audit;
    }

    /** @throws IllegalStateException if it was not opened before the hub was closed */
    synchronized Graph get() {
        if (graph == null) {
            if (closed) {
                throw new IllegalStateException("the hub is closed");
            }
            if (database == null || audit == null) {
                scratch = TemporaryDirectory.create();
                graph = Graph.open(requireNonNull(scratch));
            } else {
                graph = Graph.in(database, audit, InstantSource.system());
            }
        }
        return graph;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (graph != null) {
            graph.close();
        }
        if (scratch != null) {
            TemporaryDirectory.remove(scratch);
            scratch = null;
        }
    }
}
