package dev.parley.knowledge.remote;

import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.outbound.http.Http1Client;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Client of a {@link SparqlService}. Follows no redirects, which might lead credentials elsewhere. Safe for any thread. */
public final class RemoteServer implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.knowledge");
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final SparqlService service;
    private final HttpClient http = Http1Client.of(CONNECT, null);
    private final AtomicReference<@Nullable String> problem = new AtomicReference<>();
    private final AtomicLong failures = new AtomicLong();

    public RemoteServer(SparqlService service) {
        this.service = service;
    }

    /** Finds a server that cannot be reached before the first call does. Does not wait for it. */
    public void probe() {
        Thread.ofVirtual().name("knowledge-sparql").start(() -> {
            try {
                tried();
            } catch (KnowledgeStoreException unavailable) {
                LOG.log(Level.DEBUG, "the failure is noted already", unavailable);
            }
        });
    }

    private void tried() {
        var unused = new SparqlClient(this, CONNECT).ask("SELECT ?nothing { } LIMIT 1");
    }

    /** Why a server cannot be used, with its address; null if it answers, if only by asking for credentials. */
    public static @Nullable String problem(URI query) {
        try (var server = new RemoteServer(new SparqlService(query, query, () -> ""))) {
            server.tried();
            return null;
        } catch (KnowledgeStoreException unavailable) {
            String message = String.valueOf(unavailable.getMessage());
            return message.contains("HTTP status 401") || message.contains("HTTP status 403") ? null : message;
        }
    }

    URI query() {
        return service.query();
    }

    URI update() {
        return service.update();
    }

    String authorization() {
        return service.header();
    }

    HttpClient http() {
        return http;
    }

    /** Notes that a request was answered. */
    void answered() {
        if (problem.get() != null && problem.getAndSet(null) != null) {
            LOG.log(Level.INFO, "The SPARQL server of the knowledge graph answers again: " + query());
        }
    }

    /** Notes that a request failed for a reason that does not lie in it. */
    void failed(String reason) {
        failures.incrementAndGet();
        if (problem.getAndSet(reason) == null) {
            LOG.log(Level.WARNING, "The SPARQL server of the knowledge graph is unavailable: " + reason);
        }
    }

    /** Number of failed requests: after each one, the server may have come back in another state. */
    long failures() {
        return failures.get();
    }

    /** Why the last request failed; null if it did not, or there was none. */
    @Nullable
    public String problem() {
        return problem.get();
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
