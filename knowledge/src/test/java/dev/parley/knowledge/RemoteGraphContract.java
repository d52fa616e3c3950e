package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.model.SparqlService;
import dev.parley.knowledge.remote.RemoteServer;
import dev.parley.knowledge.remote.SparqlClient;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/** A graph whose statements are on a server. */
abstract class RemoteGraphContract extends GraphContract {
    private @Nullable AutoCloseable server;
    private @Nullable SparqlService service;

    /** Starts an empty server. */
    abstract AutoCloseable start(Path directory) throws IOException;

    abstract SparqlService service(AutoCloseable started);

    @Override
    Database database(Path directory) throws IOException {
        AutoCloseable started = start(directory);
        server = started;
        service = service(started);
        return Database.open(directory);
    }

    @Override
    SparqlService service() {
        return requireNonNull(service);
    }

    /** The statements are not in the tables, but all that the server holds counts as well. */
    @Override
    String tables() {
        try (var http = new RemoteServer(service())) {
            var all = new StringBuilder(super.tables());
            new SparqlClient(http, Duration.ofSeconds(30))
                    .ask("SELECT ?s ?p ?o { { GRAPH ?g { ?s ?p ?o } } UNION { ?s ?p ?o } }")
                    .forEach(row -> all.append('\n').append(row.values()));
            return all.toString();
        }
    }

    @AfterAll
    @Override
    void close() throws IOException {
        super.close();
        try {
            requireNonNull(server).close();
        } catch (Exception failure) { // AutoCloseable says no more of it
            throw new IOException(failure);
        }
    }
}
